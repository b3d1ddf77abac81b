import { plain, RETRIEVAL_FACTS } from '../../model/facts.ts'
import type { WithAll } from '../../model/facts.ts'
import type { Retrieval, RetrievedDocument } from '../../model/agent-run.ts'
import type { RunError } from '../../model/message.ts'
import { MAX_DOCUMENTS } from '../../spans/content/documents.ts'
import type { TraceSpan } from '../trace-span.ts'
import { frozen } from './frozen.ts'
import { printAsJson } from './print-as-json.ts'

/** A retrieval whose documents are read at first access. */
export class ReconstructedRetrieval implements WithAll<Retrieval> {
  static {
    printAsJson(this.prototype)
  }

  readonly kind: Retrieval['kind']
  readonly toolCall: number | undefined
  readonly #span: TraceSpan

  constructor(span: TraceSpan, kind: Retrieval['kind'], toolCall: number | undefined) {
    this.#span = span
    this.kind = kind
    this.toolCall = toolCall
    Object.freeze(this)
  }

  get query(): string | undefined {
    return firstIn(this.#span, ({ retrieval }) => retrieval?.query)
  }

  get documents(): readonly RetrievedDocument[] | undefined {
    const found = foundBy(this.#span)
    return frozen(found !== undefined && found.length > MAX_DOCUMENTS ? found.slice(0, MAX_DOCUMENTS) : found)
  }

  get source(): string | undefined {
    return firstIn(this.#span, ({ retrieval }) => retrieval?.source)
  }

  get spanId(): string {
    return this.#span.span.spanId
  }

  get status(): Retrieval['status'] {
    const { status } = this.#span.outcome
    if (status === 'error' || status === 'aborted') return status
    // Many instrumentations leave the status unset.
    return status === 'ok' || foundBy(this.#span) !== undefined ? 'ok' : 'unknown'
  }

  get error(): RunError | undefined {
    return frozen(this.#span.outcome.error)
  }

  toJSON(): Retrieval {
    return plain<Retrieval, keyof Retrieval>(this, RETRIEVAL_FACTS)
  }
}

/** The kind of a retrieval; `undefined` for a span that is none, nor holds one. */
export function retrievalKindOf(span: TraceSpan): Retrieval['kind'] | undefined {
  return firstIn(span, ({ retrieval }) => retrieval?.kind)
}

/** Whether more documents were recorded than a run has. */
export function hasMoreDocuments(span: TraceSpan): boolean {
  return (foundBy(span)?.length ?? 0) > MAX_DOCUMENTS
}

/**
 * What was found: by the outer span, or else by all inside it. A retriever that only names its documents may have a client inside it that
 * records their texts.
 */
function foundBy(span: TraceSpan): readonly RetrievedDocument[] | undefined {
  const own = span.documents
  if (span.inner.length === 0 || own?.length === 0 || holdsText(own)) return own
  const inside = span.inner.flatMap(({ documents }) => documents ?? [])
  if (own !== undefined && !holdsText(inside)) return own
  if (inside.length > 0) return withoutRepeats(inside)
  return own ?? span.inner.find(({ documents }) => documents !== undefined)?.documents
}

/** Whether the text of any document is recorded. */
export function holdsText(documents: readonly RetrievedDocument[] | undefined): boolean {
  return documents?.some(({ content }) => content !== undefined) === true
}

/** Spans inside one another may have recorded the same documents. */
function withoutRepeats(documents: readonly RetrievedDocument[]): readonly RetrievedDocument[] {
  const seen = new Set<string>()
  return documents.filter(({ id, content }) => {
    const key = id ?? content
    if (key === undefined) return true
    const isNew = !seen.has(key)
    seen.add(key)
    return isNew
  })
}

function firstIn<T>(span: TraceSpan, read: (span: TraceSpan) => T | undefined): T | undefined {
  const own = read(span)
  if (own !== undefined || span.inner.length === 0) return own
  for (const inner of span.inner) {
    const value = read(inner)
    if (value !== undefined) return value
  }
  return undefined
}
