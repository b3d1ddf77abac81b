import { CARRIED_HEADER, SEEN_HEADER } from './assigned-partition.ts'
import type { Carried } from './held-message.ts'
import type { PartitionLog } from './partition-log.ts'
import type { RecordWriter } from './record-writer.ts'
import type { Refusals } from './refusals.ts'

/** What carrying forward needs. */
export interface CarryForwardParts {
  readonly writer: Pick<RecordWriter, 'append'>
  /** The age at which a message that holds back the commit is appended again. */
  readonly carryAfterMs: number
  readonly refusals: Refusals
  readonly report: (message: string) => void
}

/** Maximum number of messages, and bytes, that are appended together: the broker accepts or refuses a whole batch. */
const CARRY_TOGETHER = 500
const CARRY_BYTES = 512 * 1024

/** A new owner may always have to read this many messages after a commit again. */
const FEW_MESSAGES = 20_000

/** For how many messages by which the commit advances one is appended again. That adds at most a twentieth to the traffic. */
const MESSAGES_FOR_EACH = 20

/** Appends messages again that hold back the commit: old ones, and the few with very many messages behind them. */
export class CarryForward {
  readonly #parts: CarryForwardParts

  constructor(parts: CarryForwardParts) {
    this.#parts = parts
  }

  /** @returns how many messages were appended */
  async run(partition: number, log: PartitionLog, nowMs: number): Promise<number> {
    let carried = 0
    for (const topic of log.topics) {
      const before = holdingBackBefore(log.positions(topic), log.nextOf(topic))
      const oldMs = nowMs - this.#parts.carryAfterMs
      const messages = log
        .oldest(topic, CARRY_TOGETHER)
        .filter(({ position, timeMs }) => position < before || timeMs < oldMs)
      for (const together of batchesOf(messages)) carried += await this.#append(topic, partition, log, together)
    }
    return carried
  }

  async #append(topic: string, partition: number, log: PartitionLog, messages: readonly Carried[]): Promise<number> {
    log.setUnderWay(messages, true)
    const { writer, refusals, report } = this.#parts
    const tried = { right: 'WRITE', topics: [{ name: topic }] } as const
    try {
      await writer.append(
        topic,
        partition,
        messages.map(({ traceId, body, position, timeMs }) => ({
          key: traceId,
          value: body,
          headers: { [CARRIED_HEADER]: String(position), [SEEN_HEADER]: String(Math.round(timeMs)) },
        })),
      )
      refusals.succeeded(tried)
      return messages.length
    } catch (error) {
      // They may be on the partition nevertheless. A message that comes back twice is recognised.
      log.setUnderWay(messages, false)
      report(`Old messages could not be appended again: ${refusals.failed(tried, error)}.`)
      return 0
    }
  }
}

/**
 * The position before which needed messages hold back the commit, so that a new owner would read many others again. If they were appended
 * again, the commit would advance by at least `FEW_MESSAGES`, and by the most beyond `MESSAGES_FOR_EACH` of them.
 *
 * @param positions of the needed messages, in order
 * @param end the position after the last message
 */
export function holdingBackBefore(positions: Iterable<number>, end: number): number {
  let first: number | undefined
  let before = 0
  let most = 0
  let count = 0
  const look = (position: number): void => {
    first ??= position
    const gain = position - first - count * MESSAGES_FOR_EACH
    if (position - first >= FEW_MESSAGES && gain > most) {
      before = position
      most = gain
    }
    count += 1
  }
  for (const position of positions) {
    look(position)
    // More messages than these cannot gain anything.
    if (first !== undefined && end - first < count * MESSAGES_FOR_EACH) return before
  }
  look(end)
  return before
}

/** Splits messages into batches of limited size. A message that is large by itself is a batch of its own. */
function* batchesOf(messages: readonly Carried[]): Generator<readonly Carried[]> {
  let batch: Carried[] = []
  let bytes = 0
  for (const message of messages) {
    if (batch.length > 0 && bytes + message.body.byteLength > CARRY_BYTES) {
      yield batch
      batch = []
      bytes = 0
    }
    batch.push(message)
    bytes += message.body.byteLength
  }
  if (batch.length > 0) yield batch
}
