import { readTraceJson } from '../../../src/otlp/trace-json.ts'
import { isRecord } from '../../../src/spans/json.ts'
import type { SourceSpan } from '../../../src/spans/source-span.ts'
import { UsageError } from '../usage-error.ts'
import type { BackendAccess } from './backend-access.ts'
import { getJson } from './get-json.ts'
import { MAX_TRACES } from './trace-backend.ts'
import type { TraceBackend } from './trace-backend.ts'

/** Jaeger's query API, version 3. */
export class JaegerBackend implements TraceBackend {
  readonly shortestMs = 1
  readonly #base: string
  readonly #query: URLSearchParams
  readonly #access: BackendAccess
  #services: Promise<readonly string[]> | undefined

  /** @param query parameters of its search without `query.`, such as `service_name=support&operation_name=invoke_agent` */
  constructor(base: string, query: string | undefined, access: BackendAccess) {
    this.#base = base
    this.#query = new URLSearchParams(query)
    this.#access = access
  }

  async read(fromMs: number, toMs: number): Promise<readonly SourceSpan[] | undefined> {
    const traces = new Map<string, readonly SourceSpan[]>()
    for (const service of await this.#servicesToSearch()) {
      const spans = await this.#search(service, fromMs, toMs)
      if (spans === undefined) return undefined
      // A trace of two services is found by both.
      for (const [traceId, ofTrace] of Map.groupBy(spans, (span) => span.traceId)) traces.set(traceId, ofTrace)
      if (traces.size >= MAX_TRACES) return undefined
    }
    return [...traces.values()].flat()
  }

  /** Jaeger searches one service at a time. */
  #servicesToSearch(): Promise<readonly string[]> {
    const given = this.#query.getAll('service_name')
    this.#services ??= given.length > 0 ? Promise.resolve(given) : this.#allServices()
    return this.#services
  }

  async #allServices(): Promise<readonly string[]> {
    const answer = await getJson(new URL(`${this.#base}/api/v3/services`), this.#access)
    const value = answer.kind === 'json' ? answer.value : undefined
    const services = isRecord(value) ? (value.services ?? []) : undefined
    if (Array.isArray(services)) return services.map(String)
    throw new UsageError(`--from: expected Jaeger's API version 3 at ${this.#base}, got no list of services`)
  }

  async #search(service: string, fromMs: number, toMs: number): Promise<readonly SourceSpan[] | undefined> {
    const url = new URL(`${this.#base}/api/v3/traces`)
    for (const [name, value] of this.#query) url.searchParams.set(`query.${name}`, value)
    url.searchParams.set('query.service_name', service)
    url.searchParams.set('query.start_time_min', new Date(fromMs).toISOString())
    url.searchParams.set('query.start_time_max', new Date(toMs).toISOString())
    // Its older versions know the second of these names only, its newer ones both.
    url.searchParams.set('query.search_depth', String(MAX_TRACES))
    url.searchParams.set('query.num_traces', String(MAX_TRACES))
    // Jaeger would move the times of spans whose clocks differ.
    url.searchParams.set('query.raw_traces', 'true')
    const answer = await getJson(url, this.#access)
    if (answer.kind === 'too-large') return undefined
    return answer.kind === 'not-found' ? [] : readTraceJson(answer.value).batch.spans
  }
}
