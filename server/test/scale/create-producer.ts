import { Producer } from '@platformatic/kafka'
import type { BaseOptions } from '@platformatic/kafka'

/** A producer of messages with strings as keys and headers, and bytes as values. */
export type BytesProducer = Producer<string, Buffer, string, string>

const RETRIES = 5

const bytesOf = (text: string | undefined) => (text === undefined ? undefined : Buffer.from(text))

export function createProducer(options: BaseOptions): BytesProducer {
  return new Producer({
    ...options,
    retries: RETRIES,
    // A message that is appended again was compressed before, and must not become larger.
    compression: 'zstd',
    serializers: {
      key: bytesOf,
      value: (value: Buffer | undefined) => value,
      headerKey: bytesOf,
      headerValue: bytesOf,
    },
  })
}
