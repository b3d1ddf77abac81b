import type { BaseOptions } from '@platformatic/kafka'

import { createProducer } from '../../src/kafka/create-producer.ts'
import type { BytesProducer } from '../../src/kafka/create-producer.ts'

interface Message {
  readonly traceId: string
  readonly request: unknown
}

/** Messages in one batch: more would be larger than a broker takes. */
const TOGETHER = 200

/** Writes to Kafka as a Collector with `partition_traces_by_id` does: a message for each trace, its id the key. */
export class Sender implements AsyncDisposable {
  readonly #producer: BytesProducer
  readonly #topic: string

  /** @param access TLS and SASL, where the brokers ask for them. */
  constructor(brokers: readonly string[], topic: string, access: Pick<BaseOptions, 'tls' | 'sasl'> = {}) {
    this.#producer = createProducer({ ...access, clientId: 'sender', bootstrapBrokers: [...brokers] })
    this.#topic = topic
  }

  /** Sends requests: objects as JSON, texts and bytes as they are. Resolves when all of it is on the brokers. */
  async send(messages: readonly Message[]): Promise<void> {
    for (let at = 0; at < messages.length; at += TOGETHER) await this.#sendSome(messages.slice(at, at + TOGETHER))
  }

  async #sendSome(messages: readonly Message[]): Promise<void> {
    for (;;) {
      try {
        await this.#producer.send({
          messages: messages.map(({ traceId, request }) => ({
            topic: this.#topic,
            key: traceId,
            value: bytesOf(request),
          })),
        })
        return
      } catch {
        await new Promise((resolve) => setTimeout(resolve, 300))
      }
    }
  }

  async close(): Promise<void> {
    await this.#producer.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}

function bytesOf(request: unknown): Buffer {
  if (Buffer.isBuffer(request)) return request
  return Buffer.from(typeof request === 'string' ? request : JSON.stringify(request))
}
