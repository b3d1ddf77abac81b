import { UserError } from '@platformatic/kafka'
import { z } from 'zod'

/** Whether an error is what a broker has answered: it is there. */
export function isAnswer(error: unknown): boolean {
  return answersIn(error).length > 0
}

/** Whether an error, or one that it was caused by, is this error of the protocol, such as `NOT_COORDINATOR`. */
export function isProtocolError(error: unknown, ...ids: readonly string[]): boolean {
  return answersIn(error).some(({ id }) => ids.includes(id))
}

/** An error of Kafka's protocol that a broker has answered with. */
export interface AnsweredError {
  /** Its name in the protocol, such as `NOT_COORDINATOR`. */
  readonly id: string
  /** Name or id of the topic that it is about, where the answer says so. */
  readonly topic: string | undefined
}

/** The errors of the protocol in an error: itself, those that it was caused by, and those that it gathers. */
export function answersIn(error: unknown, response?: unknown): readonly AnsweredError[] {
  if (typeof error !== 'object' || error === null) return []
  const answer = 'response' in error ? error.response : response
  const inner = [
    ...('errors' in error && Array.isArray(error.errors) ? error.errors : []),
    ...('cause' in error ? [error.cause] : []),
  ].flatMap((each: unknown) => answersIn(each, answer))
  const unknownTopic = error instanceof UserError ? /^Unknown topic (.+)\.$/.exec(error.message)?.[1] : undefined
  // The library keeps no more than this of the answer about a topic that is not there.
  if (unknownTopic !== undefined) return [{ id: 'UNKNOWN_TOPIC_OR_PARTITION', topic: unknownTopic }, ...inner]
  if (!('apiId' in error) || typeof error.apiId !== 'string') return inner
  return [{ id: error.apiId, topic: topicAt('path' in error ? error.path : undefined, answer) }, ...inner]
}

const topicsSchema = z.array(z.object({ name: z.string().nullish(), topicId: z.string().nullish() }))
const answerSchema = z.object({ topics: topicsSchema.optional(), responses: topicsSchema.optional() })

/** @param path Such as `/topics/0` or `/responses/0/partitions/1`. */
function topicAt(path: unknown, response: unknown): string | undefined {
  const index = /^\/(?:topics|responses)\/(\d+)/.exec(String(path))?.[1]
  const { success, data } = answerSchema.safeParse(response)
  if (index === undefined || !success) return undefined
  const topic = (data.topics ?? data.responses)?.[Number(index)]
  return topic?.name ?? topic?.topicId ?? undefined
}
