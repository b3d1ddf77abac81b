import type { Conversation, ToolCall } from '../../model/agent-run.ts'
import { quoted, shortName } from './render-run.ts'
import type { Fragment, SectionDraft } from './section.ts'

/** Turns that a judge is shown: the first and the last ones. */
const FIRST_TURNS = 5
const LAST_TURNS = 50

/** The indices of the turns that a judge is shown. */
export function shownTurns({ turns }: Pick<Conversation, 'turns'>): readonly number[] {
  return [...turns.keys()].filter((index) => index < FIRST_TURNS || index >= turns.length - LAST_TURNS)
}

/**
 * The messages of a conversation, one a line, and the names and outcomes of tool calls; no arguments, no results and no instructions. If
 * space is short, answers are cut first, then messages of the user; those of the first and the last turn never.
 */
export function conversationSection(conversation: Conversation): SectionDraft[] {
  const { turns, earlier } = conversation
  const shown = new Set(shownTurns(conversation))
  const leftOut = turns.length - shown.size
  const fragments = turns.flatMap(({ user, runs }, index): Fragment[] => {
    const gap = leftOut > 0 && index === FIRST_TURNS ? [{ text: `(${leftOut} turns are left out)\n` }] : []
    if (!shown.has(index)) return gap
    const isWhole = index === 0 || index === turns.length - 1
    const line = (who: string, text: string, cut: 'first' | 'last'): Fragment[] => [
      { text: `turn ${index + 1}, ${who}: ` },
      { text: quoted(text), ...(!isWhole && { cut }) },
      { text: '\n' },
    ]
    return [
      ...gap,
      ...(user === undefined ? [] : line('user', user, 'last')),
      ...runs.flatMap(({ toolCalls, output, status }) => [
        ...(toolCalls.length === 0 ? [] : [{ text: `turn ${index + 1}, tools: ${describeCalls(toolCalls)}\n` }]),
        ...(output === undefined
          ? [{ text: `turn ${index + 1}, agent: no answer (${status})\n` }]
          : line('agent', output, 'first')),
      ]),
    ]
  })
  return [
    ...(earlier.length === 0
      ? []
      : [
          {
            title: "the user's messages from before, for context",
            fragments: earlier.flatMap((text): Fragment[] => [{ text: quoted(text), cut: 'first' }, { text: '\n' }]),
          },
        ]),
    { title: 'the conversation', fragments },
  ]
}

/** Calls of a run that are named. */
const MAX_CALLS = 12
const MAX_ERROR = 100

function describeCalls(calls: readonly ToolCall[]): string {
  const named = calls.slice(0, MAX_CALLS).map(({ name, status, error }) => {
    const message = error?.message ?? error?.type
    return `${shortName(name)} ${status}${message === undefined ? '' : ` ${quoted(message.slice(0, MAX_ERROR))}`}`
  })
  const more = calls.length - named.length
  return `${named.join(', ')}${more > 0 ? `, and ${more} more` : ''}`
}
