import type { SourceLog } from '../../spans/source-span.ts'

/** A log record, as the log processors of SDK 1.x (0.57), 2.x and 3.x get it. */
export interface EmittedLogRecord {
  readonly spanContext?: { readonly traceId: string; readonly spanId: string } | undefined
  readonly eventName?: string | undefined
  readonly hrTime: readonly [number, number]
  readonly attributes: Readonly<Record<string, unknown>>
  readonly body?: unknown
  readonly instrumentationScope: { readonly name: string; readonly version?: string | undefined }
}

/** A processor of log records of any SDK line. */
export interface LogRecordProcessorLike {
  onEmit(record: EmittedLogRecord): void
  forceFlush(): Promise<void>
  shutdown(): Promise<void>
}

/** The log records in which some instrumentations write messages, passed on to `take`; everything else is let by. */
export function createLogCapture(take: (log: SourceLog) => void): LogRecordProcessorLike {
  return {
    onEmit(record) {
      const { spanContext } = record
      const eventName = record.eventName ?? record.attributes['event.name']
      if (spanContext === undefined || typeof eventName !== 'string' || !eventName.startsWith('gen_ai.')) return
      if (eventName === 'gen_ai.evaluation.result') return
      const { name, version } = record.instrumentationScope
      take({
        traceId: spanContext.traceId,
        spanId: spanContext.spanId,
        eventName,
        timeMs: record.hrTime[0] * 1000 + record.hrTime[1] / 1e6,
        attributes: record.attributes,
        ...(record.body !== undefined && { body: record.body }),
        scope: version === undefined ? { name } : { name, version },
      })
    },
    forceFlush: () => Promise.resolve(),
    shutdown: () => Promise.resolve(),
  }
}
