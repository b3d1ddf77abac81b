import { isRecord, parseJson } from './json.ts'
import type { Dialect } from './dialect.ts'

type Attributes = Readonly<Record<string, unknown>>

/** The ids that a span has of the conversation and of the user, by the kinds of their names. */
export interface IdsOnSpan {
  /** By the GenAI conventions' name. */
  readonly conversationId?: string
  /** By a name of the library's own. */
  readonly ownConversationId?: string
  /** A session of a browser may hold several conversations. */
  readonly sessionId?: string
  /** By a name of the general conventions. */
  readonly userId?: string
  /** By a name of the library's own. */
  readonly ownUserId?: string
}

/** The names of the ids of a span, from the most to the least exact. */
export const CONVERSATION_IDS = ['conversationId', 'ownConversationId', 'sessionId'] as const
export const USER_IDS = ['userId', 'ownUserId'] as const

/**
 * The ids of a span; `undefined` if it has none.
 *
 * @param dialect the one that recognises the span. Any other span around a run has the general names, and Pipecat's.
 */
export function idsOf(attributes: Attributes, dialect: Dialect | undefined): IdsOnSpan | undefined {
  // Most spans have none. To go through their keys takes less time than to look up each name that they lack.
  if (!hasOneOf(attributes, known.get(dialect) ?? namesOf(dialect))) return undefined
  const named = toId(attributes['gen_ai.conversation.id'])
  const conversationId =
    named !== undefined && dialect?.quirks?.isNoConversation?.(attributes) === true ? undefined : named
  const ownConversationId =
    firstId(attributes, dialect?.conversationKeys ?? AROUND) ??
    conversationIn(attributes, dialect?.conversationIn ?? NO_KEYS)
  const sessionId = toId(attributes['session.id'])
  const userId = toId(attributes['user.id']) ?? toId(attributes['enduser.id'])
  const ownUserId = firstId(attributes, dialect?.userKeys ?? NO_KEYS)
  if ((conversationId ?? ownConversationId ?? sessionId ?? userId ?? ownUserId) === undefined) return undefined
  return {
    ...(conversationId !== undefined && { conversationId }),
    ...(ownConversationId !== undefined && { ownConversationId }),
    ...(sessionId !== undefined && { sessionId }),
    ...(userId !== undefined && { userId }),
    ...(ownUserId !== undefined && { ownUserId }),
  }
}

/** The part of OpenTelemetry's baggage that is read. */
export interface BaggageLike {
  /** An entry by its name. */
  getEntry(name: string): { readonly value: string } | undefined
}

/** The ids that an application passes on to everything that it starts. `undefined` if there are none. */
export function idsInBaggage(baggage: BaggageLike): IdsOnSpan | undefined {
  return idsOf(Object.fromEntries(GENERAL.map((name) => [name, baggage.getEntry(name)?.value])), undefined)
}

/** The names of the conventions, which any span may have. */
const GENERAL = ['gen_ai.conversation.id', 'session.id', 'user.id', 'enduser.id'] as const

/** Pipecat's turns and conversations are no spans of agents. */
const AROUND: readonly string[] = ['conversation.id']
const NO_KEYS: readonly string[] = []

/** All names that may hold an id, by dialect. */
const known = new Map<Dialect | undefined, ReadonlySet<string>>()

function namesOf(dialect: Dialect | undefined): ReadonlySet<string> {
  const { conversationKeys = AROUND, userKeys = NO_KEYS, conversationIn: within = NO_KEYS } = dialect ?? {}
  const names = new Set<string>([...GENERAL, ...conversationKeys, ...userKeys, ...within])
  known.set(dialect, names)
  return names
}

function hasOneOf(attributes: Attributes, names: ReadonlySet<string>): boolean {
  for (const key in attributes) if (names.has(key)) return true
  return false
}

function firstId(attributes: Attributes, keys: readonly string[]): string | undefined {
  for (const key of keys) {
    const id = toId(attributes[key])
    if (id !== undefined) return id
  }
  return undefined
}

/** OpenAI's id of a conversation in a request or reply: `{ conversation: { id } }`, or the id alone. */
function conversationIn(attributes: Attributes, keys: readonly string[]): string | undefined {
  for (const key of keys) {
    const written = attributes[key]
    // A reply may be long, and most have none.
    if (typeof written !== 'string' || !/"conversation": ?[{"]/.test(written)) continue
    const value = parseJson(written)
    const conversation = isRecord(value) ? value.conversation : undefined
    const id = toId(isRecord(conversation) ? conversation.id : conversation)
    if (id !== undefined) return id
  }
  return undefined
}

/** What languages print of a missing value, and ids of zeros only, which stand for no id. */
const NO_ID = /^(?:null|none|undefined|nil|nan|[0-]*)$/i

/** An id as a text; MLflow writes it as JSON. `undefined` for what stands for no id: every user would share it. */
function toId(value: unknown): string | undefined {
  if (typeof value !== 'string' || value === '') return undefined
  const parsed = value.startsWith('"') ? parseJson(value) : value
  const id = typeof parsed === 'string' ? parsed : value
  return NO_ID.test(id.trim()) ? undefined : id
}
