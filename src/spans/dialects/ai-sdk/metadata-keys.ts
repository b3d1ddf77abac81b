/** Common keys for the conversation in telemetry metadata; there is no standard one. */
export const CONVERSATION_KEYS: readonly string[] = metadataKeys(
  'sessionId',
  'threadId',
  'conversationId',
  'chatId',
  'session_id',
  'thread_id',
)

/** Common keys for the user. */
export const USER_KEYS: readonly string[] = metadataKeys('userId', 'user_id')

/** The metadata's name in version 6 and below, and in version 7. */
function metadataKeys(...keys: string[]): readonly string[] {
  return keys.flatMap((key) => [`ai.telemetry.metadata.${key}`, `ai.settings.context.${key}`])
}
