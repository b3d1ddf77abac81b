import { readTraceJson } from '../../../src/otlp/trace-json.ts'
import { isRecord } from '../../../src/spans/json.ts'
import type { SourceSpan } from '../../../src/spans/source-span.ts'
import { UsageError } from '../usage-error.ts'
import type { BackendAccess } from './backend-access.ts'
import { getJson } from './get-json.ts'
import { MAX_TRACES } from './trace-backend.ts'
import type { TraceBackend } from './trace-backend.ts'

/** The default query: spans of the GenAI conventions, of OpenInference, and of OpenLLMetry. */
const AGENTS =
  '{ span.gen_ai.operation.name != nil || span.openinference.span.kind != nil || span.traceloop.span.kind != nil }'

/** Tempo's search by TraceQL, and its traces by id. */
export class TempoBackend implements TraceBackend {
  /** Its searches begin and end at whole seconds. */
  readonly shortestMs = 1000
  readonly #base: string
  readonly #query: string
  readonly #access: BackendAccess

  constructor(base: string, query: string | undefined, access: BackendAccess) {
    this.#base = base
    this.#query = query ?? AGENTS
    this.#access = access
  }

  async read(fromMs: number, toMs: number): Promise<readonly SourceSpan[] | undefined> {
    const url = new URL(`${this.#base}/api/search`)
    url.searchParams.set('q', this.#query)
    url.searchParams.set('start', String(Math.floor(fromMs / 1000)))
    url.searchParams.set('end', String(Math.ceil(toMs / 1000)))
    url.searchParams.set('limit', String(MAX_TRACES))
    url.searchParams.set('spss', '1')
    const answer = await getJson(url, this.#access)
    const found = answer.kind === 'json' && isRecord(answer.value) ? (answer.value.traces ?? []) : undefined
    if (!Array.isArray(found)) throw new UsageError(`--from: expected Tempo's API at ${this.#base}, got no search`)
    if (found.length >= MAX_TRACES) return undefined
    const spans: SourceSpan[] = []
    for (const each of found) {
      if (isRecord(each) && typeof each.traceID === 'string') spans.push(...(await this.#trace(each.traceID)))
    }
    return spans
  }

  /** @param id without leading zeros */
  async #trace(id: string): Promise<readonly SourceSpan[]> {
    const url = new URL(`${this.#base}/api/v2/traces/${encodeURIComponent(id.padStart(32, '0'))}`)
    const answer = await getJson(url, this.#access)
    if (answer.kind === 'too-large')
      throw new UsageError(`--from: trace ${id} is too large to read; leave it out by --query`)
    return answer.kind === 'not-found' ? [] : readTraceJson(answer.value).batch.spans
  }
}
