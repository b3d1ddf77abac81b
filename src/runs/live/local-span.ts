import type { SdkSpanLike } from '../../spans/from-sdk-span.ts'
import type { LiveSpan } from './live-span.ts'
import type { SpanGroup } from './span-group.ts'

/**
 * What is kept of every span that starts in this process, whether a dialect recognises it or not: who it is, and what is above
 * it. It does not hold the span, so that children and look-ups keep nothing of it in memory.
 */
export class LocalSpan {
  readonly context: { readonly traceId: string; readonly spanId: string }
  /** The span above it in this process; `undefined` for the outermost ones. */
  above: LocalSpan | undefined
  /** By the order of the hooks. */
  open = true
  /** Where a dialect recognises it: at its start, or by what was written on it since. */
  recognised: LiveSpan | undefined
  /** True where it was recognised, and its run is closed. */
  isOver = false
  /** Groups below it without an agent, which wait for its end. */
  agentless: Set<SpanGroup> | undefined
  /** Whether a recognised span started below it. */
  hasRecognisedBelow = false
  /** Its place in the order of the starts, while it may still be recognised; 0 where it cannot, or has been. */
  askAgain = 0
  /** Whether the trace began in this process: nothing that is known above has a parent anywhere. */
  readonly beganHere: boolean
  /** The id of the last span on the way up that is known or named; empty where there is none. */
  readonly topId: string

  /** @param parent The span of this process that it is below, ended or not. */
  constructor(span: SdkSpanLike, parent: LocalSpan | undefined) {
    this.context = span.spanContext()
    this.above = parent
    if (parent === undefined) {
      const parentId = span.parentSpanContext?.spanId ?? span.parentSpanId
      this.beganHere = parentId === undefined
      this.topId = parentId ?? ''
    } else {
      this.beganHere = parent.beganHere
      this.topId = parent.topId === '' ? parent.context.spanId : parent.topId
    }
  }

  /** Lets go of the recognised span, whose run is closed: this record may be found by its ids for long. */
  retire(): void {
    this.recognised = undefined
    this.isOver = true
  }
}

/** The nearest recognised span from a span upwards, itself included. */
export function nearestRecognised(span: LocalSpan | undefined): LiveSpan | undefined {
  for (let current = span; current !== undefined; current = current.above) {
    if (current.recognised !== undefined) return current.recognised
  }
  return undefined
}

/** Whether the nearest recognised span from a span upwards, itself included, is of a run that is closed. */
export function isBelowOver(span: LocalSpan | undefined): boolean {
  let current = span
  while (current !== undefined && current.recognised === undefined && !current.isOver) current = current.above
  return current?.isOver === true
}

/** The outermost span of this process, from a span upwards, that has not ended. */
export function outermostOpen(span: LocalSpan | undefined): LocalSpan | undefined {
  let found: LocalSpan | undefined
  for (let current = span; current !== undefined; current = current.above) if (current.open) found = current
  return found
}

/** Whether the way up from a span, itself included, passes through another one. */
export function passes(span: LocalSpan | undefined, ancestor: LocalSpan): boolean {
  for (let current = span; current !== undefined; current = current.above) if (current === ancestor) return true
  return false
}
