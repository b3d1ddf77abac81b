import { ProduceAcks } from '@platformatic/kafka'

import type { Unreadable } from './assigned-partition.ts'
import type { BytesProducer } from './create-producer.ts'
import { describeError, isProtocolError } from './kafka-client.ts'

/** What dead letters need. */
export interface DeadLettersParts {
  readonly producer: BytesProducer
  readonly topic: string
  readonly report: (message: string) => void
}

const RETRY_MS = 1000

/** Messages that cannot be read, kept on a topic of their own where a person can look at them. */
export class DeadLetters {
  readonly #parts: DeadLettersParts

  constructor(parts: DeadLettersParts) {
    this.#parts = parts
  }

  /**
   * Resolves when the message is on the topic, or when it is not wanted any more.
   *
   * @returns Whether it is on the topic
   */
  async put(unreadable: Unreadable, isWanted: () => boolean): Promise<boolean> {
    let value = Buffer.from(unreadable.record.value)
    while (isWanted()) {
      try {
        await this.#send(unreadable, value)
        return true
      } catch (error) {
        // The place and the reason are kept in any case: the message itself is on its own topic still.
        if (value.byteLength > 0 && isProtocolError(error, 'MESSAGE_TOO_LARGE', 'RECORD_LIST_TOO_LARGE')) {
          value = Buffer.alloc(0)
          continue
        }
        this.#parts.report(`A message that cannot be read could not be put aside: ${describeError(error)}.`)
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS))
      }
    }
    return false
  }

  async #send({ topic, partition, record, reason }: Unreadable, value: Buffer): Promise<void> {
    await this.#parts.producer.send({
      acks: ProduceAcks.ALL,
      messages: [
        {
          topic: this.#parts.topic,
          value,
          headers: {
            'spanscore-topic': topic,
            'spanscore-partition': String(partition),
            'spanscore-offset': String(record.offset),
            'spanscore-reason': reason,
          },
        },
      ],
    })
  }
}
