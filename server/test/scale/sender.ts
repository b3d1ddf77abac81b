import type { BaseOptions } from '@platformatic/kafka'

import { createProducer } from './create-producer.ts'
import type { BytesProducer } from './create-producer.ts'

interface Message {
  readonly traceId: string
  readonly request: unknown
}

/** Number of messages in one batch. A larger batch would exceed the limit of a broker. */
const TOGETHER = 200

/** Writes to Kafka like a Collector with `partition_traces_by_id`: one message for each trace, with the trace id as its key. */
export class Sender implements AsyncDisposable {
  readonly #producer: BytesProducer
  readonly #topic: string

  /** @param access TLS and SASL options, if the brokers require them. */
  constructor(brokers: readonly string[], topic: string, access: Pick<BaseOptions, 'tls' | 'sasl'> = {}) {
    this.#producer = createProducer({ ...access, clientId: 'sender', bootstrapBrokers: [...brokers] })
    this.#topic = topic
  }

  /** Sends objects as JSON, and texts and bytes unchanged. Resolves when all requests are on the brokers. */
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
