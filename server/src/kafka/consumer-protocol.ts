import { Reader, Writer } from '@platformatic/kafka'

/** `ConsumerProtocolSubscription`, version 0, so that Kafka's own tools can show the group; partitions and hash are user data. */
export function encodeSubscription(topics: readonly string[], owned: readonly number[], configHash: string): Buffer {
  const userData = Buffer.from(JSON.stringify({ owned, configHash }))
  return Writer.create()
    .appendInt16(0)
    .appendArray([...topics], (writer, topic) => writer.appendString(topic, false), false, false)
    .appendBytes(userData, false).buffer
}

export function decodeSubscription(metadata: Buffer | null): {
  readonly topics: readonly string[]
  readonly owned: readonly number[]
  readonly configHash: string
} {
  const nothing = { topics: [], owned: [], configHash: '' }
  if (metadata === null) return nothing
  try {
    const reader = Reader.from(metadata)
    reader.skip(2)
    const topics = reader.readArray((each) => each.readString(false), false, false)
    const userData: unknown = JSON.parse(reader.readBytes(false).toString())
    if (typeof userData !== 'object' || userData === null) return nothing
    return {
      topics,
      owned: 'owned' in userData && Array.isArray(userData.owned) ? userData.owned.map(Number) : [],
      configHash: 'configHash' in userData ? String(userData.configHash) : '',
    }
  } catch {
    return nothing
  }
}

/** `ConsumerProtocolAssignment`, version 0. */
export function encodeAssignment(topics: readonly string[], partitions: readonly number[]): Buffer {
  return Writer.create()
    .appendInt16(0)
    .appendArray(
      [...topics],
      (writer, topic) =>
        writer
          .appendString(topic, false)
          .appendArray([...partitions], (inner, partition) => inner.appendInt32(partition), false, false),
      false,
      false,
    )
    .appendInt32(0).buffer
}

export function decodeAssignment(bytes: Buffer): readonly number[] {
  if (bytes.byteLength < 6) return []
  const reader = Reader.from(bytes)
  reader.skip(2)
  const topics = reader.readArray(
    (each) => ({
      topic: each.readString(false),
      partitions: each.readArray((inner) => inner.readInt32(), false, false),
    }),
    false,
    false,
  )
  return topics[0]?.partitions ?? []
}
