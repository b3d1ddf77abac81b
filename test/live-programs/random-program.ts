import type { Attributes } from '@opentelemetry/api'

import type { Random } from '../fuzz/random.ts'
import type { Program, ProgramSpan } from './program.ts'

/** What may be in a program. */
export interface ProgramTraits {
  readonly kinds: readonly ProgramSpan['kind'][]
  /** Whether model calls continue each other's conversations. */
  readonly isTalkative: boolean
  readonly maxTraces: number
}

interface Conversation {
  readonly messages: unknown[]
  /** The id of the tool call that waits for its result. */
  callId: string | undefined
}

/** A program of a few spans, in any tree, whose recognised spans end after what is below them has started. */
export function randomProgram(random: Random, { kinds, isTalkative, maxTraces }: ProgramTraits): Program {
  const spans: ProgramSpan[] = []
  const conversations: Conversation[] = []
  const count = 3 + random.integer(10)
  for (let at = 0; at < count; at += 1) {
    const kind = random.pick(kinds)
    const trace = random.integer(maxTraces)
    const above = [...spans.keys()].filter((other) => (spans[other]!.trace ?? 0) === trace)
    const parent = above.length > 0 && random.chance(0.85) ? random.pick(above) : undefined
    const by = random.pick(['object', 'ids', 'remote'] as const)
    const span = { kind, trace, parent, by }
    if (kind === 'agent') spans.push({ ...span, attributes: { 'gen_ai.agent.name': random.pick(['Ann', 'Bob']) } })
    else if (kind === 'tool') spans.push({ ...span, ...randomTool(random, conversations) })
    else if (kind === 'chat') spans.push({ ...span, ...randomChat(random, at, isTalkative ? conversations : []) })
    else spans.push(span)
  }
  return { spans, hooks: randomHooks(random, spans) }
}

function randomTool(random: Random, conversations: readonly Conversation[]): Partial<ProgramSpan> {
  const callId = conversations.length === 0 ? undefined : random.pick(conversations).callId
  const attributes: Attributes = { 'gen_ai.tool.name': random.pick(['search', 'ask']) }
  if (callId !== undefined && random.chance(0.5)) attributes['gen_ai.tool.call.id'] = callId
  return { attributes, endAttributes: { 'gen_ai.tool.call.result': '"found"' } }
}

function randomChat(random: Random, at: number, conversations: Conversation[]): Partial<ProgramSpan> {
  const goesOn = conversations.length > 0 && random.chance(0.5)
  const conversation: Conversation = goesOn ? random.pick(conversations) : { messages: [], callId: undefined }
  if (!goesOn) conversations.push(conversation)
  const { messages, callId } = conversation
  messages.push(
    callId === undefined
      ? { role: 'user', parts: [{ type: 'text', content: `Question ${at}` }] }
      : { role: 'tool', parts: [{ type: 'tool_call_response', id: callId, response: 'found' }] },
  )
  const input = JSON.stringify(messages)
  conversation.callId = random.chance(0.5) ? `call_${at}` : undefined
  const said =
    conversation.callId === undefined
      ? { type: 'text', content: `Answer ${at}` }
      : { type: 'tool_call', id: conversation.callId, name: random.pick(['search', 'ask']), arguments: {} }
  const message = { role: 'assistant', parts: [said] }
  messages.push(message)
  return {
    attributes: { 'gen_ai.request.model': 'm' },
    endAttributes: { 'gen_ai.input.messages': input, 'gen_ai.output.messages': JSON.stringify([message]) },
  }
}

/** The same spans, one after the other: each ends after all spans below it have ended. A lost parent is named by its ids. */
export function inSequence({ spans }: Program): Program {
  const hooks: ['start' | 'end', number][] = []
  const run = (at: number): void => {
    hooks.push(['start', at])
    for (const [below, { parent }] of spans.entries()) if (parent === at) run(below)
    hooks.push(['end', at])
  }
  for (const [at, { parent }] of spans.entries()) if (parent === undefined) run(at)
  return { spans: spans.map((span) => ({ ...span, by: 'ids' })), hooks }
}

/** The same program, in which no span was lost. */
export function withoutLoss({ spans, hooks }: Program): Program {
  return { spans: spans.map((span) => (span.kind === 'unseen' ? { ...span, kind: 'ordinary' } : span)), hooks }
}

/**
 * The same program with only those losses whose place can be known: below an agent or one of its tools, and not directly above an
 * agent, which may be a run of its own.
 */
export function withPlainLoss({ spans, hooks }: Program): Program {
  const parentOf = (at: number): number => spans[at]?.parent ?? -1
  const isPassed = (at: number): boolean => ['ordinary', 'unseen', 'entry'].includes(spans[at]?.kind ?? '')
  const isInAgent = (at: number): boolean => at >= 0 && (spans[at]!.kind === 'agent' || isInAgent(parentOf(at)))
  const isPlain = (at: number): boolean => {
    let above = parentOf(at)
    while (isPassed(above)) above = parentOf(above)
    return above >= 0 && spans[above]!.kind !== 'chat' && isInAgent(above)
  }
  const isAboveAgent = (at: number): boolean =>
    spans.some(
      ({ kind, parent }, below) => parent === at && (kind === 'agent' || (isPassed(below) && isAboveAgent(below))),
    )
  return {
    spans: spans.map((span, at) =>
      span.kind === 'unseen' && (!isPlain(at) || isAboveAgent(at)) ? { ...span, kind: 'ordinary' } : span,
    ),
    hooks,
  }
}

function randomHooks(random: Random, spans: readonly ProgramSpan[]): Program['hooks'] {
  const hooks: ['start' | 'end', number][] = []
  const waiting = new Set(spans.keys())
  const open = new Set<number>()
  const isBelow = (at: number, above: number): boolean => {
    const { parent } = spans[at]!
    return parent !== undefined && (parent === above || isBelow(parent, above))
  }
  while (waiting.size + open.size > 0) {
    const mayStart = [...waiting].filter((at) => !waiting.has(spans[at]!.parent ?? -1))
    const mayEnd = [...open].filter(
      (above) => spans[above]!.kind === 'ordinary' || ![...waiting].some((at) => isBelow(at, above)),
    )
    const starts = mayEnd.length === 0 || (mayStart.length > 0 && random.chance(0.6))
    const at = random.pick(starts ? mayStart : mayEnd)
    if (starts) {
      waiting.delete(at)
      open.add(at)
    } else open.delete(at)
    hooks.push([starts ? 'start' : 'end', at])
  }
  return hooks
}
