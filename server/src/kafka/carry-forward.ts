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
  readonly refusals: Refusals
  readonly report: (message: string) => void
}

/** Messages that are appended again together, and their bytes: the broker takes a batch or refuses all of it. */
const CARRY_TOGETHER = 500
const CARRY_BYTES = 512 * 1024

/** Characters of a commit's metadata from which on the oldest messages are appended again. The broker takes 4,096. */
const CARRY_FROM = 3000

/** Messages behind a commit that a new owner may have to read again in any case. */
const FEW_MESSAGES = 20_000

/** How many messages may be behind a commit for each that is still needed. Appending again then adds a twentieth to the traffic. */
const MESSAGES_FOR_EACH_NEEDED = 20

/**
 * Appends messages again that hold back the commit: those that are old, that keep much behind them that nobody needs, or behind
 * which the states no longer fit into the commit.
 */
export class CarryForward {
  readonly #parts: CarryForwardParts

  constructor(parts: CarryForwardParts) {
    this.#parts = parts
  }

  /** @returns How many messages were appended */
  async run(partition: number, log: PartitionLog, nowMs: number): Promise<number> {
    let carried = 0
    for (const topic of log.topics) {
      const { held, behind, metadataLength } = log.sizeOf(topic)
      const isMuch = metadataLength > CARRY_FROM || behind > Math.max(FEW_MESSAGES, held * MESSAGES_FOR_EACH_NEEDED)
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
      // They may be on the partition all the same: what comes back twice is recognised.
      log.setUnderWay(messages, false)
      report(`Old messages could not be appended again: ${refusals.failed({ right: 'WRITE', topics }, error)}.`)
      return 0
    }
  }
}

/** Messages in batches that are not too large; one that is large by itself is a batch of its own. */
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
