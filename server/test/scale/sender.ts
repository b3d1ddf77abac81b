import { createProducer } from '../../src/kafka/create-producer.ts'
import type { BytesProducer } from '../../src/kafka/create-producer.ts'

/** Writes to Kafka as a Collector with `partition_traces_by_id` does: a message for each trace, its id the key. */
export class Sender {
  readonly #producer: BytesProducer
  readonly #topic: string

  constructor(brokers: readonly string[], topic: string) {
    this.#producer = createProducer({ clientId: 'sender', bootstrapBrokers: [...brokers] })
    this.#topic = topic
  }

  /** Sends requests: objects as JSON, texts and bytes as they are. Resolves when all of it is on the brokers. */
  async send(messages: readonly { readonly traceId: string; readonly request: unknown }[]): Promise<void> {
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
}

function bytesOf(request: unknown): Buffer {
  if (Buffer.isBuffer(request)) return request
  return Buffer.from(typeof request === 'string' ? request : JSON.stringify(request))
}
