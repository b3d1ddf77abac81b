import { isEvaluation } from '../../attributes/event-attributes.ts'
import { isContentLog } from '../../spans/content-logs.ts'
import type { SourceLog } from '../../spans/source-span.ts'

/** A log record as log processors of SDK 1.x (0.57), 2.x and 3.x receive it. */
export interface EmittedLogRecord {
  /** The span to which the record belongs. */
  readonly spanContext?: { readonly traceId: string; readonly spanId: string } | undefined
  /** The name of the event; absent on plain log records. */
  readonly eventName?: string | undefined
  /** Seconds and nanoseconds since the epoch. */
  readonly hrTime: readonly [number, number]
  /** As set by the instrumentation. */
  readonly attributes: Readonly<Record<string, unknown>>
  /** A string, or any value that the instrumentation wrote. */
  readonly body?: unknown
  /** The instrumentation that wrote it. */
  readonly instrumentationScope: { readonly name: string; readonly version?: string | undefined }
}

/** A processor of log records of any SDK line. */
export interface LogRecordProcessorLike {
  /** Called with each emitted log record. */
  onEmit(record: EmittedLogRecord): void
  /** Exports what is waiting. */
  forceFlush(): Promise<void>
  /** Exports what is waiting, and ends. */
  shutdown(): Promise<void>
}

/**
 * Passes the log records in which some instrumentations write messages to `take`, and ignores all others. Errors, of reading a record or of
 * `take`, go to `onError`: nothing is thrown into the application's logging.
 */
export function createLogCapture(
  take: (log: SourceLog) => void,
  onError: (error: unknown) => void,
): LogRecordProcessorLike {
  return {
    onEmit(record) {
      try {
        const log = toContentLog(record)
        if (log !== undefined) take(log)
      } catch (error) {
        onError(error)
      }
    },
    forceFlush: () => Promise.resolve(),
    shutdown: () => Promise.resolve(),
  }
}

function toContentLog(record: EmittedLogRecord): SourceLog | undefined {
  const { spanContext, attributes } = record
  if (spanContext === undefined) return undefined
  const eventName = record.eventName ?? attributes['event.name']
  const { name, version } = record.instrumentationScope
  if (typeof eventName !== 'string' || isEvaluation(eventName)) return undefined
  const log: SourceLog = {
    traceId: spanContext.traceId,
    spanId: spanContext.spanId,
    eventName,
    timeMs: record.hrTime[0] * 1000 + record.hrTime[1] / 1e6,
    attributes,
    ...(record.body !== undefined && { body: record.body }),
    scope: version === undefined ? { name } : { name, version },
  }
  return isContentLog(log) ? log : undefined
}
