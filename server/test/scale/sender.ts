import { Producer } from '@platformatic/kafka'

const bytes = (text: string | undefined) => (text === undefined ? undefined : Buffer.from(text))

/** Writes to Kafka as a Collector with `partition_traces_by_id` does: a message for each trace, its id the key. */
export class Sender {
  readonly #producer: Producer<string, string, string, string>
  readonly #topic: string

  constructor(brokers: readonly string[], topic: string) {
    this.#producer = new Producer({
      clientId: 'sender',
      bootstrapBrokers: [...brokers],
      retries: 100,
      retryDelay: 200,
      serializers: { key: bytes, value: bytes, headerKey: bytes, headerValue: bytes },
    })
    this.#topic = topic
  }

  /** Resolves when all of it is on the brokers. */
  async send(messages: readonly { readonly traceId: string; readonly request: unknown }[]): Promise<void> {
    for (;;) {
      try {
        await this.#producer.send({
          messages: messages.map(({ traceId, request }) => ({
            topic: this.#topic,
            key: traceId,
            value: typeof request === 'string' ? request : JSON.stringify(request),
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
