import { answersIn } from './answered-errors.ts'
import { describeKafkaError } from './kafka-client.ts'

/** The operation on a topic, and the permission that it needs. */
const VERBS = { READ: 'read', WRITE: 'write to' } as const

/** A refused operation is tried again more often than that, unless nothing needs it any more, for example because its partition has moved. */
const REMEMBERED_MS = 30_000

/** What was tried when brokers refused. */
export interface Tried {
  readonly right: keyof typeof VERBS
  /** The topics, with their ids if known. */
  readonly topics: readonly { readonly name: string; readonly id?: string | undefined }[]
}

/**
 * What the brokers currently refuse this process: revoked permissions and deleted topics. Only a person can fix that, so it is reported
 * with what to do, and readiness fails.
 */
export class Refusals {
  readonly #now: () => number
  readonly #reasons = new Map<string, { readonly reason: string; readonly atMs: number }>()

  /** @param now Milliseconds of a monotonic clock. */
  constructor(now: () => number) {
    this.#now = now
  }

  /** What is refused now; `undefined` if nothing is. */
  get reason(): string | undefined {
    const sinceMs = this.#now() - REMEMBERED_MS
    for (const [key, { reason, atMs }] of this.#reasons) {
      if (atMs >= sinceMs) return reason
      this.#reasons.delete(key)
    }
    return undefined
  }

  /** An operation on topics failed. @returns the reason, for a report */
  failed(tried: Tried, error: unknown): string {
    const found = refusedTopics(tried, error)
    for (const { topic, reason } of found) this.#note(keyOf(tried.right, topic), reason)
    return found.length === 0 ? describeKafkaError(error) : found.map(({ reason }) => reason).join(' ')
  }

  /** An operation on topics succeeded. */
  succeeded({ right, topics }: Tried): void {
    for (const { name } of topics) this.#reasons.delete(keyOf(right, name))
  }

  /** A group request failed. @returns the reason, for a report */
  groupFailed(groupId: string, error: unknown): string {
    const toReason = answersIn(error)
      .map(({ id }) => GROUP_REASONS[id])
      .find((each) => each !== undefined)
    if (toReason === undefined) return describeKafkaError(error)
    const reason = toReason(groupId)
    this.#note(groupId, reason)
    return reason
  }

  groupSucceeded(groupId: string): void {
    this.#reasons.delete(groupId)
  }

  #note(key: string, reason: string): void {
    this.#reasons.set(key, { reason, atMs: this.#now() })
  }
}

function keyOf(right: string, topic: string): string {
  return `${right} ${topic}`
}

function refusedTopics(
  { right, topics }: Tried,
  error: unknown,
): readonly { readonly topic: string; readonly reason: string }[] {
  const reasons = new Map<string, string>()
  for (const { id, topic } of answersIn(error)) {
    const toReason = REASONS[id]
    if (toReason === undefined) continue
    const meant = topics.filter(({ name, id: topicId }) => topic === undefined || topic === name || topic === topicId)
    for (const { name } of meant) reasons.set(name, toReason(name, right))
  }
  return [...reasons].map(([topic, reason]) => ({ topic, reason }))
}

const isGone = (topic: string) => `There is no topic ${topic}: create it again, docs/scale.md has the command`

/** By the name of the error in Kafka's protocol. */
const REASONS: Readonly<Record<string, (topic: string, right: keyof typeof VERBS) => string>> = {
  TOPIC_AUTHORIZATION_FAILED: (topic, right) =>
    `The brokers do not let this user ${VERBS[right]} the topic ${topic}: give it ${right} on that topic`,
  UNKNOWN_TOPIC_OR_PARTITION: isGone,
  UNKNOWN_TOPIC_ID: isGone,
}

const GROUP_REASONS: Readonly<Record<string, (groupId: string) => string>> = {
  GROUP_AUTHORIZATION_FAILED: (groupId) =>
    `The brokers do not let this user be a member of the group ${groupId}: give it READ on that group`,
  INVALID_SESSION_TIMEOUT: () =>
    'The brokers do not allow this --session-timeout: choose one between their group.min.session.timeout.ms and group.max.session.timeout.ms, by default 6 s and 30 min',
  GROUP_MAX_SIZE_REACHED: (groupId) =>
    `The brokers allow no more members of the group ${groupId}: raise their group.max.size, or start fewer workers`,
  INCONSISTENT_GROUP_PROTOCOL: (groupId) =>
    `The group ${groupId} has members that are no workers of spanscore: give the workers another --group, or stop these members`,
}
