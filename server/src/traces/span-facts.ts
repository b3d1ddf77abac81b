import { recognise, roleOf } from 'spanscore/engine'
import type { SourceLog, SourceSpan } from 'spanscore/engine'

/**
 * What is needed of a span to place it. It is read as soon as a request is decoded, so that the attributes need not outlive that moment:
 * what waits until its request is on disk is copied by the garbage collector.
 */
export interface SpanFacts extends Pick<
  SourceSpan,
  'traceId' | 'spanId' | 'parentSpanId' | 'startTimeMs' | 'endTimeMs' | 'resource' | 'scope'
> {
  readonly parentIsRemote: boolean
  /** Whether it can be the outermost span of a run: an agent, or a workflow that may turn out to be one. */
  readonly isAnchor: boolean
  /** Whether a dialect recognised it. Other spans only connect their children to their ancestors. */
  readonly isRecognised: boolean
  /** Whether the library writes the spans of a run side by side, so that parents do not show what belongs together. */
  readonly isFlat: boolean
}

/** What is needed of a log record to place it. */
export type LogFacts = Pick<SourceLog, 'traceId' | 'spanId' | 'scope'>

/** Reads what is needed to place a span. */
export function spanFactsOf(source: SourceSpan): SpanFacts {
  const { traceId, spanId, parentSpanId, startTimeMs, endTimeMs, resource, scope } = source
  const dialect = recognise(scope.name, source.attributes, source.name)
  const role = dialect === undefined ? undefined : roleOf(dialect, source)
  return {
    traceId,
    spanId,
    parentSpanId,
    parentIsRemote: source.parentIsRemote === true,
    startTimeMs,
    endTimeMs,
    resource,
    scope,
    isAnchor: role === 'agent' || role === 'entry',
    isRecognised: dialect !== undefined,
    isFlat: isFlat(dialect, source),
  }
}

/** Reads what is needed to place a log record. */
export function logFactsOf({ traceId, spanId, scope }: SourceLog): LogFacts {
  return { traceId, spanId, scope }
}

function isFlat(dialect: ReturnType<typeof recognise>, source: SourceSpan): boolean {
  try {
    return dialect?.isFlat?.(source) === true
  } catch {
    return false
  }
}
