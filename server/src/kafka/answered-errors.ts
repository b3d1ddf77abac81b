import { UserError } from '@platformatic/kafka'
import { z } from 'zod'

/** Whether an error is a broker's response, which shows that the broker is up. */
export function isAnswer(error: unknown): boolean {
  return answersIn(error).length > 0
}

/** Whether an error or one of its causes is this protocol error, such as `NOT_COORDINATOR`. */
export function isProtocolError(error: unknown, ...ids: readonly string[]): boolean {
  return answersIn(error).some(({ id }) => ids.includes(id))
}

/** An error of Kafka's protocol in a broker's response. */
export interface AnsweredError {
  /** Its name in the protocol, such as `NOT_COORDINATOR`. */
  readonly id: string
  /** The name or id of its topic, if the response has it. */
  readonly topic: string | undefined
}

/** The protocol errors in an error: itself, its causes, and those that it aggregates. */
export function answersIn(error: unknown, response?: unknown): readonly AnsweredError[] {
  if (typeof error !== 'object' || error === null) return []
  const answer = 'response' in error ? error.response : response
  const inner = [
    ...('errors' in error && Array.isArray(error.errors) ? error.errors : []),
    ...('cause' in error ? [error.cause] : []),
  ].flatMap((each: unknown) => answersIn(each, answer))
  const unknownTopic = error instanceof UserError ? /^Unknown topic (.+)\.$/.exec(error.message)?.[1] : undefined
  // The library keeps nothing else of the response about a missing topic.
  if (unknownTopic !== undefined) return [{ id: 'UNKNOWN_TOPIC_OR_PARTITION', topic: unknownTopic }, ...inner]
  if (!('apiId' in error) || typeof error.apiId !== 'string') return inner
  return [{ id: error.apiId, topic: topicAt('path' in error ? error.path : undefined, answer) }, ...inner]
}

const topicsSchema = z.array(z.object({ name: z.string().nullish(), topicId: z.string().nullish() }))
const answerSchema = z.object({ topics: topicsSchema.optional(), responses: topicsSchema.optional() })

/** @param path such as `/topics/0` or `/responses/0/partitions/1` */
function topicAt(path: unknown, response: unknown): string | undefined {
  const index = /^\/(?:topics|responses)\/(\d+)/.exec(String(path))?.[1]
  const { success, data } = answerSchema.safeParse(response)
  if (index === undefined || !success) return undefined
  const topic = (data.topics ?? data.responses)?.[Number(index)]
  return topic?.name ?? topic?.topicId ?? undefined
}

/** The id that a coordinator gives a new member, with which it must join again (KIP-394). `undefined` if the error is another one. */
export function assignedMemberId(error: unknown): string | undefined {
  if (!isProtocolError(error, 'MEMBER_ID_REQUIRED')) return undefined
  return findMemberId(error)
}

function findMemberId(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null) return undefined
  if ('memberId' in error && typeof error.memberId === 'string') return error.memberId
  if ('response' in error) {
    const found = findMemberId(error.response)
    if (found !== undefined) return found
  }
  if (!('errors' in error) || !Array.isArray(error.errors)) return undefined
  return error.errors.map(findMemberId).find((found) => found !== undefined)
}
