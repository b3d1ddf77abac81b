import type { Retrieval, RetrievedDocument, ToolCall } from '../../model/agent-run.ts'
import { hasFailed, hasSucceeded } from '../../model/call-status.ts'
import type { RunError } from '../../model/message.ts'
import { toDocuments } from '../../spans/content/documents.ts'
import { isRecord, textOf } from '../../spans/json.ts'
import { frozen } from './frozen.ts'
import { printAsJson } from './print-as-json.ts'

/** The calls with which the model's provider searched files: OpenAI's `file_search`. */
export function fileSearches(calls: readonly ToolCall[]): readonly Retrieval[] {
  return calls.flatMap((call, index) =>
    call.name === 'file_search' && call.providerExecuted ? [new FileSearch(call, index)] : [],
  )
}

/** A search of the model's provider. It has no span, and is read from the tool call. */
class FileSearch implements Retrieval {
  static {
    printAsJson(this.prototype)
  }

  readonly kind = 'search'
  readonly toolCall: number
  readonly #call: ToolCall

  constructor(call: ToolCall, index: number) {
    this.#call = call
    this.toolCall = index
    Object.freeze(this)
  }

  get query(): string | undefined {
    const given = this.#call.arguments
    const queries: unknown = isRecord(given) ? given.queries : given
    const texts = Array.isArray(queries) ? queries.filter((query) => typeof query === 'string') : []
    return texts.length === 0 ? textOf(queries) : texts.join('\n')
  }

  get documents(): readonly RetrievedDocument[] | undefined {
    return frozen(toDocuments(this.#call.result))
  }

  get status(): Retrieval['status'] {
    return hasSucceeded(this.#call) ? 'ok' : hasFailed(this.#call) ? 'error' : 'unknown'
  }

  get error(): RunError | undefined {
    return this.#call.error
  }

  /** All properties, for `JSON.stringify`, which omits undefined ones. */
  toJSON(): Retrieval {
    const { query, documents, error } = this
    return { kind: this.kind, query, documents, status: this.status, error, toolCall: this.toolCall }
  }
}
