import type { DecodedRecord, LogRecord } from '../log/span-log.ts'

/** A message whose spans are not all finished. */
export interface HeldMessage {
  readonly record: LogRecord
  readonly traceIds: readonly string[]
  readonly topic: string
  /** Its offset on Kafka. */
  position: number
  state: 'open' | 'emitted'
  /** Whether some of its spans are finished and others are not. */
  isPartly: boolean
  /** Whether it was appended again, and has not come back. */
  isUnderWay: boolean
  /** Whether all of its spans are finished, and it only waits for other messages of its traces. */
  isDone: boolean
}

/** A message that has to be appended again, so that what comes before the rest can be committed. */
export interface Carried {
  readonly topic: string
  readonly position: number
  readonly traceId: string
  readonly body: Uint8Array
  /** When it was read, by the time of the partition. */
  readonly timeMs: number
}

/** The traces of which a message holds spans or log records. */
export function tracesOf({ spans, logs }: DecodedRecord): readonly string[] {
  const traceIds = new Set<string>()
  for (const each of [...spans, ...logs]) if (each !== undefined) traceIds.add(each.traceId)
  return [...traceIds]
}
