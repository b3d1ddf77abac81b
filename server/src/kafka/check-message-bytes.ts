/**
 * The largest message that a Collector writes by default. The messages that workers write to the topics which they read are smaller: parts
 * of long commits, and batches of messages that are appended again.
 */
const LEAST_MESSAGE_BYTES = 1_000_000

/** The brokers' own default, for brokers that do not report it. */
const DEFAULT_MESSAGE_BYTES = 1_048_588

/**
 * Checks that a topic accepts messages as large as workers write.
 *
 * @param setting its `max.message.bytes`
 * @returns the setting as a number
 * @throws Error if it does not: what was expected, what was found, and what to do
 */
export function checkMessageBytes(topic: string, setting: string | null | undefined): number {
  const bytes = Number(setting ?? DEFAULT_MESSAGE_BYTES)
  if (bytes >= LEAST_MESSAGE_BYTES) return bytes
  throw new Error(
    `Expected max.message.bytes=${LEAST_MESSAGE_BYTES} or more of the topic ${topic}, got ${bytes}: progress could not be written to it. Set it with kafka-configs --alter.`,
  )
}
