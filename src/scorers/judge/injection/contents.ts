import type { AgentRun } from '../../../model/agent-run.ts'
import type { FindingPlace } from '../../../model/finding.ts'
import { unicodePattern } from '../../../model/unicode-pattern.ts'
import { historyOf } from '../../../scoring/history.ts'
import { conversationCalls, shownTurns } from '../../../judge/prompt/render-conversation.ts'
import { quoted, shownCalls } from '../../../judge/prompt/render-call.ts'
import type { ShownCall } from '../../../judge/prompt/render-call.ts'
import { foundIn, promptCallId } from '../../../judge/prompt/render-run.ts'

/** A text that the agent read and that nobody in charge wrote, and where it is. */
export interface Content {
  readonly value: unknown
  readonly place: FindingPlace
}

/** The calls of a run or conversation, with the ids that the material gives them. */
export function judgedCalls(run: AgentRun): readonly ShownCall[] {
  return run.conversation === undefined ? shownCalls(run, promptCallId) : conversationCalls(run.conversation)
}

/** Results of this run, of agents below it and of earlier turns, errors, and documents that the spans hold. */
export function contentsOf(run: AgentRun, calls: readonly ShownCall[]): readonly Content[] {
  const ofCalls = calls.flatMap(({ call: { result, error }, ...at }) =>
    [result, error?.message].flatMap((value) => (isBlank(value) ? [] : [{ value, place: placeOf(run, at, 'result') }])),
  )
  if (run.conversation !== undefined) return ofCalls
  const earlier = historyOf(run).flatMap((message) =>
    message.parts.flatMap((part) => {
      if (part.type !== 'tool_call_response' || isBlank(part.response)) return []
      const index = run.input.indexOf(message)
      return [{ value: part.response, place: { in: 'message' as const, ...(index >= 0 && { index }) } }]
    }),
  )
  const documents = foundIn(run).flatMap(({ index, retrieval }) =>
    (retrieval.documents ?? []).flatMap(({ content }, document) =>
      isBlank(content) ? [] : [{ value: content, place: { in: 'retrieval' as const, index, document } }],
    ),
  )
  return [...ofCalls, ...earlier, ...documents]
}

/** The place of a call. It names the run if that is not the one that was scored. */
export function placeOf(
  scored: AgentRun,
  { run, index }: Pick<ShownCall, 'run' | 'index'>,
  place: 'call' | 'result',
): FindingPlace {
  return { in: place, index, ...((run.id !== scored.id || scored.conversation !== undefined) && { runId: run.id }) }
}

/** Words that are enough to recognise a text by. */
const FEW_WORDS = 5

/** Where the contents hold a passage. Case, punctuation and line ends do not matter; if it is nowhere, its first words are looked for. */
export function placesOf(passage: string, contents: readonly Content[]): readonly FindingPlace[] {
  const words = wordsOf(passage)
  if (words.length === 0) return []
  const holding = (some: readonly string[]): readonly FindingPlace[] => {
    const text = ` ${some.join(' ')} `
    return contents.flatMap(({ value, place }) =>
      ` ${wordsOf(typeof value === 'string' ? value : quoted(value)).join(' ')} `.includes(text) ? [place] : [],
    )
  }
  const whole = holding(words)
  return (whole.length > 0 ? whole : holding(words.slice(0, FEW_WORDS))).map((place) => ({ ...place, quote: passage }))
}

function wordsOf(text: string): readonly string[] {
  const plain = text.replaceAll(/\\[nrt]/g, ' ').toLowerCase()
  return plain.match(words()) ?? []
}

const words = unicodePattern('[\\p{L}\\p{N}]+', 'gu')

/** Facts without which a text, or what came of it, may not be seen. */
const SHOWN_FACTS = /^(?:retrievals|toolCalls$|children$|output$)/

/** What the spans, or the judge, lack of what the agent read and did: ids of calls, facts, and turns. */
export function unrecorded(run: AgentRun, calls: readonly ShownCall[]): readonly string[] {
  const { conversation } = run
  const hidden = conversation === undefined ? 0 : conversation.turns.length - shownTurns(conversation).length
  return [
    ...calls.flatMap(({ id, run: { missing }, index }) =>
      missing.some(({ what }) => what === `toolCalls[${index}].result`) ? [id] : [],
    ),
    ...run.missing.flatMap(({ what }) => (SHOWN_FACTS.test(what) ? [what] : [])),
    ...(hidden > 0 ? [`${hidden} turns`] : []),
  ]
}

function isBlank(value: unknown): boolean {
  return value === undefined || value === null || (typeof value === 'string' && value.trim() === '')
}
