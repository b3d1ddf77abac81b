import type { DecodedRecord, LogRecord } from '../log/span-log.ts'

/** A message with unfinished spans. */
export interface HeldMessage {
  readonly record: LogRecord
  readonly traceIds: readonly string[]
  readonly topic: string
  /** Its offset on Kafka. */
  position: number
  state: 'open' | 'emitted'
  /** Whether only some of its spans are finished. */
  isPartly: boolean
  /** Whether it was appended again and has not come back yet. */
  isUnderWay: boolean
  /** Whether all of its spans are finished, and it only waits for other messages of its traces. */
  isDone: boolean
}

/** A message to be appended again, so that everything before it can be committed. */
export interface Carried {
  readonly topic: string
  readonly position: number
  readonly traceId: string
  readonly body: Uint8Array
  /** When it was read, in the partition's time. */
  readonly timeMs: number
}

/** The traces of a message's spans and log records. */
export function tracesOf({ spans, logs }: DecodedRecord): readonly string[] {
  const traceIds = new Set<string>()
  for (const each of [...spans, ...logs]) if (each !== undefined) traceIds.add(each.traceId)
  return [...traceIds]
}
