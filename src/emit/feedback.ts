import { TraceFlags } from '@opentelemetry/api'
import type { SpanContext } from '@opentelemetry/api'

import { formatValue } from '../scoring/format-value.ts'
import { isRecord } from '../spans/json.ts'
import type { ScoreAttributes } from '../attributes/attribute-table.ts'
import type { EventAttributes } from '../attributes/event-attributes.ts'
import { MAX_EXPLANATION_LENGTH, MAX_NAME_LENGTH, shortened } from '../attributes/explanation-rules.ts'
import type { ExplanationRules } from '../attributes/explanation-rules.ts'

/** What a user says of an answer: a thumb, stars, whether a ticket was opened again. */
export interface Feedback {
  /** The trace of the run: 32 lower-case hex digits. */
  readonly traceId?: string
  /** A span of the run, or one around it, such as that of the request: 16 lower-case hex digits. */
  readonly spanId?: string
  /** In place of both: `AgentRun.id`. */
  readonly runId?: string
  /** What was asked, such as `thumbs` or `stars`. */
  readonly name: string
  /** `true` and `false` are 1 and 0, with the labels `pass` and `fail`. */
  readonly value: number | boolean
  /** `pass` or `fail`, or a word of your own. @default none for a number */
  readonly label?: string
  /** The user's words. They are content. */
  readonly comment?: string
  /** Who the user is. It is content. */
  readonly userId?: string
}

/** Feedback that was checked. */
export interface ReadFeedback {
  /** The span that it is about. */
  readonly target: SpanContext
  /** What was asked. */
  readonly name: string
  /** `true` and `false` are 1 and 0. */
  readonly value: number
  /** `undefined` for a number without a label. */
  readonly label: string | undefined
  /** The user's words. */
  readonly comment: string | undefined
  /** Who the user is. */
  readonly userId: string | undefined
}

const KEYS: ReadonlySet<string> = new Set([
  'traceId',
  'spanId',
  'runId',
  'name',
  'value',
  'label',
  'comment',
  'userId',
] satisfies (keyof Feedback)[])

/**
 * Checks feedback.
 *
 * @param own properties that the caller has already taken out of it, and which are allowed too
 * @throws TypeError `feedback.<key>: expected …, got …`, without the user's words
 */
export function readFeedback(given: unknown, own: readonly string[] = []): ReadFeedback {
  if (!isRecord(given)) {
    const got = given === null ? 'null' : Array.isArray(given) ? 'a list' : typeof given
    throw new TypeError(`feedback: expected an object, got ${got}`)
  }
  const unknownKey = Object.keys(given).find((key) => !KEYS.has(key))
  if (unknownKey !== undefined)
    throw wrong(formatValue(unknownKey), `one of ${[...KEYS, ...own].join(', ')}`, 'an unknown property')
  const { name, value } = given
  if (typeof name !== 'string' || name.trim() === '') throw wrong('name', 'a name such as thumbs', typeof name)
  if (typeof value !== 'boolean' && !(typeof value === 'number' && Number.isFinite(value)))
    throw wrong('value', 'a number, true or false', formatValue(value))
  const label = textIn(given, 'label')
  return {
    target: targetOf(given),
    name: shortened(name, MAX_NAME_LENGTH),
    value: Number(value),
    label: label ?? (typeof value === 'boolean' ? (value ? 'pass' : 'fail') : undefined),
    comment: textIn(given, 'comment'),
    userId: textIn(given, 'userId'),
  }
}

function targetOf(given: Readonly<Record<string, unknown>>): SpanContext {
  const { runId } = given
  const [traceId, spanId] =
    runId === undefined ? [given['traceId'], given['spanId']] : typeof runId === 'string' ? runId.split(':') : []
  if (typeof traceId === 'string' && /^(?!0+$)[0-9a-f]{32}$/.test(traceId)) {
    if (typeof spanId === 'string' && /^(?!0+$)[0-9a-f]{16}$/.test(spanId))
      return { traceId, spanId, traceFlags: TraceFlags.SAMPLED, isRemote: true }
  }
  throw runId === undefined
    ? wrong('traceId and spanId', 'both, as 32 and 16 lower-case hex digits, or runId', 'others')
    : wrong('runId', 'the id of a run, <trace id>:<span id>', 'another value')
}

function textIn(given: Readonly<Record<string, unknown>>, key: string): string | undefined {
  const value = given[key]
  if (value === undefined || typeof value === 'string') return value === '' ? undefined : value
  throw wrong(key, 'a text', typeof value)
}

function wrong(key: string, expected: string, got: string): TypeError {
  return new TypeError(`feedback.${key}: expected ${expected}, got ${got}`)
}

/** The attributes of the event of feedback. */
export function feedbackAttributes(
  { name, value, label, comment, userId }: ReadFeedback,
  { explanations, stripContent }: ExplanationRules,
): ScoreAttributes {
  const attributes: EventAttributes & { 'user.id'?: string } = {
    'gen_ai.evaluation.name': name,
    'gen_ai.evaluation.score.value': value,
  }
  if (label !== undefined) attributes['gen_ai.evaluation.score.label'] = shortened(label, MAX_NAME_LENGTH)
  if (comment !== undefined && explanations === 'all' && !stripContent)
    attributes['gen_ai.evaluation.explanation'] = shortened(comment, MAX_EXPLANATION_LENGTH)
  attributes['gen_ai.evaluation.evaluator.type'] = USER
  if (userId !== undefined && !stripContent) attributes['user.id'] = shortened(userId, MAX_NAME_LENGTH)
  return attributes
}

/** The type of evaluator of a user's feedback, beside those of scorers. */
export const USER = 'user'
