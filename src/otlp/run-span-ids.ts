import type { AgentRun } from '../model/agent-run.ts'
import { isContentLog } from '../spans/content-logs.ts'
import { recognise, roleOf } from '../spans/recognise.ts'
import type { SourceLog, SourceSpan } from '../spans/source-span.ts'

interface Place {
  readonly span: SourceSpan
  readonly isRecognised: boolean
  /** Whether it is an agent, or a workflow that may be one. */
  readonly isAnchor: boolean
  readonly below: Place[]
}

/** Ids of spans, in any order. */
export interface IdsOfSpans {
  readonly spanIds: readonly string[]
  /** Those of them with content in log records. */
  readonly withLogs: readonly string[]
}

interface Trace {
  readonly places: ReadonlyMap<string, Place>
  /** Whether its library writes the spans of a run side by side. */
  readonly isFlat: boolean
}

/**
 * The recognised spans of each run, from which the ids of its scores follow: everything below its agent, or, without an agent, everything
 * that is connected with it by parents.
 */
export class RunSpanIds {
  readonly #traces: ReadonlyMap<string, Trace>

  /** Trace and span ids of the spans with content in log records. */
  readonly #withLogs: ReadonlySet<string>

  constructor(spans: readonly SourceSpan[], logs: readonly SourceLog[]) {
    this.#withLogs = new Set(logs.filter(isContentLog).map(({ traceId, spanId }) => `${traceId}:${spanId}`))
    this.#traces = new Map([...Map.groupBy(spans, ({ traceId }) => traceId)].map(([id, all]) => [id, toTrace(all)]))
  }

  of({ traceId, spanId }: AgentRun): IdsOfSpans {
    const spanIds = this.#idsOf(traceId, spanId)
    return { spanIds, withLogs: spanIds.filter((id) => this.#withLogs.has(`${traceId}:${id}`)) }
  }

  #idsOf(traceId: string, spanId: string): readonly string[] {
    const trace = this.#traces.get(traceId)
    const root = trace?.places.get(spanId)
    if (trace === undefined || root === undefined) return [spanId]
    const found = trace.isFlat ? [...trace.places.values()] : below(root.isAnchor ? root : outermost(root, trace))
    return found.flatMap(({ span, isRecognised }) => (isRecognised ? [span.spanId] : []))
  }
}

function toTrace(spans: readonly SourceSpan[]): Trace {
  const places = new Map<string, Place>()
  let isFlat = false
  for (const span of spans) {
    const dialect = recognise(span.scope.name, span.attributes, span.name)
    const role = dialect === undefined ? undefined : roleOf(dialect, span)
    isFlat ||= dialect?.quirks?.isFlat?.(span) === true
    places.set(span.spanId, {
      span,
      isRecognised: dialect !== undefined,
      isAnchor: role === 'agent' || role === 'entry',
      below: [],
    })
  }
  for (const place of places.values()) places.get(place.span.parentSpanId ?? '')?.below.push(place)
  return { places, isFlat }
}

function below(top: Place): readonly Place[] {
  const found = new Set([top])
  for (const place of found) for (const child of place.below) found.add(child)
  return [...found]
}

function outermost(place: Place, { places }: Trace): Place {
  const passed = new Set([place])
  let top = place
  for (;;) {
    const above = places.get(top.span.parentSpanId ?? '')
    if (above === undefined || passed.has(above)) return top
    passed.add(above)
    top = above
  }
}
