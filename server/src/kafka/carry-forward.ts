import { ProduceAcks } from '@platformatic/kafka'

import { CARRIED_HEADER, SEEN_HEADER } from './assigned-partition.ts'
import type { Carried } from './held-message.ts'
import type { BytesProducer } from './create-producer.ts'
import type { PartitionLog } from './partition-log.ts'
import type { Refusals } from './refusals.ts'

/** What carrying forward needs. */
export interface CarryForwardParts {
  readonly producer: Pick<BytesProducer, 'send'>
  /** The age at which a message that holds back the commit is appended again. */
  readonly carryAfterMs: number
  /** Maximum bytes of a commit's metadata. */
  readonly maxCommitBytes: number
  readonly refusals: Refusals
  readonly report: (message: string) => void
}

/** Maximum number of messages, and bytes, that are appended together: the broker accepts or refuses a whole batch. */
const CARRY_TOGETHER = 500
const CARRY_BYTES = 512 * 1024

/** If a commit's metadata takes this share of the room for it, the oldest messages are appended again. */
const CARRY_FROM = 0.75

/** A new owner may always have to read this many messages after a commit again. */
const FEW_MESSAGES = 20_000

/** Maximum number of messages after a commit for each one that is still needed. Appending then adds a twentieth to the traffic. */
const MESSAGES_FOR_EACH_NEEDED = 20

/**
 * Appends messages again that hold back the commit: old ones, those with many unneeded messages after them, and those whose following
 * states no longer fit into the commit.
 */
export class CarryForward {
  readonly #parts: CarryForwardParts

  constructor(parts: CarryForwardParts) {
    this.#parts = parts
  }

  /** @returns how many messages were appended */
  async run(partition: number, log: PartitionLog, nowMs: number): Promise<number> {
    let carried = 0
    for (const topic of log.topics) {
      const { held, behind, metadataLength } = log.sizeOf(topic)
      const isMuch =
        metadataLength > CARRY_FROM * this.#parts.maxCommitBytes ||
        behind > Math.max(FEW_MESSAGES, held * MESSAGES_FOR_EACH_NEEDED)
      const oldMs = nowMs - this.#parts.carryAfterMs
      const messages = log.oldest(topic, CARRY_TOGETHER).filter(({ timeMs }) => isMuch || timeMs < oldMs)
      for (const together of batchesOf(messages)) carried += await this.#append(partition, log, together)
    }
    return carried
  }

  async #append(partition: number, log: PartitionLog, messages: readonly Carried[]): Promise<number> {
    log.setUnderWay(messages, true)
    const { refusals, report } = this.#parts
    const topics = [...new Set(messages.map(({ topic }) => topic))].map((name) => ({ name }))
    try {
      await this.#parts.producer.send({
        acks: ProduceAcks.ALL,
        messages: messages.map(({ topic, traceId, body, position, timeMs }) => ({
          topic,
          partition,
          key: traceId,
          value: Buffer.from(body),
          headers: { [CARRIED_HEADER]: String(position), [SEEN_HEADER]: String(Math.round(timeMs)) },
        })),
      })
      refusals.succeeded({ right: 'WRITE', topics })
      return messages.length
    } catch (error) {
      // They may be on the partition nevertheless. A message that comes back twice is recognised.
      log.setUnderWay(messages, false)
      report(`Old messages could not be appended again: ${refusals.failed({ right: 'WRITE', topics }, error)}.`)
      return 0
    }
  }
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
