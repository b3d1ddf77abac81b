import type { AgentRun } from '../model/agent-run.ts'
import { recognise, roleOf } from '../spans/recognise.ts'
import type { SourceSpan } from '../spans/source-span.ts'

interface Place {
  readonly span: SourceSpan
  readonly isRecognised: boolean
  /** Whether it is an agent, or a workflow that may be one. */
  readonly isAnchor: boolean
  readonly below: Place[]
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

  constructor(spans: readonly SourceSpan[]) {
    this.#traces = new Map([...Map.groupBy(spans, ({ traceId }) => traceId)].map(([id, all]) => [id, toTrace(all)]))
  }

  /** Ids of spans, in any order. */
  of({ traceId, spanId }: AgentRun): readonly string[] {
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
