import { recognise, roleOf, TreeNode } from 'spanscore/engine'
import type { Dialect, SourceLog, SourceSpan } from 'spanscore/engine'

import type { RecordBody, RecordBytes } from '../log/record-body.ts'
import type { HeldBytes } from './held-contents.ts'

/** A position on the log. */
export interface LogPosition {
  /** The record. */
  readonly offset: number
  /** The span or log record in it. */
  readonly index: number
}

/** Estimated bytes of a span's object in memory, besides its data. */
const OBJECT_BYTES = 400

/**
 * The place of a span in the tree of its trace, with the facts that decide what belongs together. The rest of the span is decoded when its
 * run is complete.
 */
export class HeldSpan extends TreeNode implements HeldBytes, LogPosition {
  declare above: HeldSpan | undefined
  declare below: HeldSpan[] | undefined
  readonly traceId: string
  readonly startTimeMs: number
  readonly endTimeMs: number
  readonly resource: SourceSpan['resource']
  readonly scope: SourceSpan['scope']
  /** Whether it can be the outermost span of a run: an agent, or a workflow that may turn out to be one. */
  readonly isAnchor: boolean
  /** The dialect that recognised it. Other spans only connect their children to their ancestors. */
  readonly dialect: Dialect | undefined
  /** Whether the library writes the spans of a run side by side, so that parents do not show what belongs together. */
  readonly isFlat: boolean
  body: RecordBody | undefined
  start = 0
  end = 0
  offset = 0
  index = 0
  /** Its log records. */
  held: HeldLog[] | undefined
  /** Time of the log when it or a log record of it arrived, or, once it is scored, when its scores were acknowledged. */
  sinceMs = 0
  /** Whether the scores of a run with it were acknowledged. */
  isEmitted = false
  /** Whether its run is being scored. */
  isScoring = false
  /** Whether it was left out to make room, so that its run is not scored any more. */
  isLeftOut = false
  /** How many revisions of its run were offered to scorers. */
  timesOffered = 0
  /** Whether it came again for a run whose scores were delivered, so that its run stays left out. */
  isRepeated = false

  constructor(source: SourceSpan) {
    const {
      traceId,
      spanId,
      parentSpanId = '',
      parentIsRemote = false,
      startTimeMs,
      endTimeMs,
      resource,
      scope,
    } = source
    super({ spanId, parentId: parentSpanId, isRemote: parentIsRemote }, undefined, undefined, 0)
    const dialect = recognise(scope.name, source.attributes, source.name)
    const role = dialect === undefined ? undefined : roleOf(dialect, source)
    this.traceId = traceId
    this.startTimeMs = startTimeMs
    this.endTimeMs = endTimeMs
    this.resource = resource
    this.scope = scope
    this.isAnchor = role === 'agent' || role === 'entry'
    this.dialect = dialect
    this.isFlat = isFlat(dialect, source)
    if (dialect === undefined) this.describe(source.attributes, undefined)
  }

  /** Whether a dialect recognised it. */
  get isRecognised(): boolean {
    return this.dialect !== undefined
  }

  /**
   * Whether the acknowledged scores are of all that is known of it. Log records that come for a scored span which had none are its content;
   * those of one that had some may be repetitions, and change nothing.
   */
  get isSettled(): boolean {
    return this.isEmitted && (this.held === undefined || this.held.some(({ state }) => state === 'scored'))
  }

  /** The log records that its run was last scored with. */
  get usedLogs(): readonly HeldLog[] {
    return this.held?.filter(({ state }) => state !== 'waiting') ?? NO_LOGS
  }

  /** Whether it waits for its parent, and cannot be the outermost span of a run. */
  get isDangling(): boolean {
    return !this.isAnchor && this.parentId !== '' && this.above === undefined
  }

  /** Estimated bytes in memory, or if it were in memory. */
  get size(): number {
    return this.end - this.start + OBJECT_BYTES
  }

  /** Sets where it is on the log. */
  isAt({ offset, index }: LogPosition, { places }: RecordBytes): void {
    this.offset = offset
    this.index = index
    this.start = places[2 * index] ?? 0
    this.end = places[2 * index + 1] ?? 0
  }
}

/** A log record of a span, which may not have arrived. */
export interface HeldLog extends HeldBytes, LogPosition {
  readonly scope: SourceLog['scope']
  /** Time of the log when it arrived. */
  readonly sinceMs: number
  /** `scored` once scores of a run with it were acknowledged. */
  state: 'waiting' | 'scoring' | 'scored'
}

const NO_LOGS: readonly HeldLog[] = []

/** What is needed of a log record to place it. */
export type LogFacts = Pick<SourceLog, 'traceId' | 'spanId' | 'scope'>

/** Reads what is needed to place a log record. */
export function logFactsOf({ traceId, spanId, scope }: SourceLog): LogFacts {
  return { traceId, spanId, scope }
}

function isFlat(dialect: Dialect | undefined, source: SourceSpan): boolean {
  try {
    return dialect?.quirks?.isFlat?.(source) === true
  } catch {
    return false
  }
}
