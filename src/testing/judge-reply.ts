import { mostItemsOf } from '../judge/reply/align.ts'
import { toLine, toWordPieces } from '../judge/prompt/segments.ts'
import { readJudgePrompt } from './judge-prompt.ts'
import type { AskedList, AskedQuestion, JudgePrompt } from './judge-prompt.ts'

/** A verdict in a script. */
export type ScriptedVerdict =
  | string
  | { readonly verdict: string; readonly reasoning?: string; readonly picks?: readonly string[] }

/** An item of a list in a script: its text, and its verdict if the list has a question. */
export type ScriptedItem =
  | string
  | {
      readonly text: string
      readonly verdict?: string
      readonly reasoning?: string
      /** Number of the sentence that it comes from, from 1. @default the sentence that shares most words with it */
      readonly sentence?: number
    }

/** A judge's findings: verdicts by question id, items by list name, notes by name. */
export interface ScriptedVerdicts {
  /** Verdicts by the name of the question, such as `user.intent`. */
  readonly verdicts?: Readonly<Record<string, ScriptedVerdict>>
  /** Items by the name of their list. */
  readonly lists?: Readonly<Record<string, readonly ScriptedItem[]>>
  /** Texts by the name of the note. */
  readonly notes?: Readonly<Record<string, string | readonly string[]>>
}

/** One answer in a reply. */
export type ReplyAnswer = { id: string; reasoning: string; verdict: string } & Record<string, unknown>

/** A reply before it is serialized to JSON. */
export interface ReplyObject extends Record<string, unknown> {
  answers: ReplyAnswer[]
}

/**
 * Writes the reply of a judge with the scripted findings, in the shape that the prompt asks for. Control questions are answered
 * correctly. Questions that are not in the script stay unanswered.
 *
 * @param message the user message of the prompt
 * @returns JSON text
 * @example
 * ```ts
 * const server = await createScriptedOpenAIServer((request) =>
 *   judgeReply(request.userText, { lists: { claims: [{ text: 'It rains.', verdict: 'supported' }] } }),
 * )
 * ```
 */
export function judgeReply(message: string, found: ScriptedVerdicts): string {
  return JSON.stringify(toReplyObject(readJudgePrompt(message), found))
}

/** Like `judgeReply`, but returns an object instead of text. */
export function toReplyObject(prompt: JudgePrompt, found: ScriptedVerdicts): ReplyObject {
  const lists = prompt.lists.map((list) => {
    const items = (found.lists?.[list.name] ?? []).map(toItem)
    const sentences = placeItems(items, list.sentences)
    return {
      list,
      items: items.map((item, index) => ({
        id: `${list.prefix}${index + 1}`,
        sentence: item.sentence ?? sentences[index] ?? 1,
        ...item,
      })),
    }
  })
  const named = new Map(
    Object.entries(found.verdicts ?? {}).flatMap(([name, verdict]) =>
      prompt.findAll(name).map(({ shownId }): [string, ScriptedVerdict] => [shownId, verdict]),
    ),
  )
  const questions = prompt.questions.flatMap((question): ReplyAnswer[] => {
    const scripted = question.isControl
      ? worstOf(question)
      : (named.get(question.shownId) ?? verdictOnText(question, prompt, found))
    return scripted === undefined ? [] : [toAnswer(question, scripted)]
  })
  const onItems = lists.flatMap(({ list, items }) => [
    ...list.given.map((id): ReplyAnswer => ({ id, reasoning: '', verdict: verdictOnGiven(list, id, items) })),
    ...items.flatMap(({ id, verdict, reasoning = '' }): ReplyAnswer[] =>
      list.verdicts.length === 0 || verdict === undefined ? [] : [{ id, reasoning, verdict }],
    ),
  ])
  return {
    ...Object.fromEntries(
      lists.flatMap(({ list, items }): [string, unknown][] => [
        [list.name, items.map(({ id, sentence, text }) => ({ id, sentence, text }))],
        ...(list.coversAll ? [[`${list.name}_none`, sentencesWithout(list, items)] satisfies [string, unknown]] : []),
      ]),
    ),
    answers: [...questions, ...onItems],
    ...(prompt.notes.length > 0 && {
      notes: Object.fromEntries(prompt.notes.map(({ name, list }) => [name, found.notes?.[name] ?? (list ? [] : '')])),
    }),
  }
}

/** A control gets the last verdict. A sentence gets the worst verdict of its items, up to the number of items that it has room for. */
function verdictOnGiven(
  { givenSentences, sentences, verdicts }: AskedList,
  id: string,
  items: readonly { readonly sentence: number; readonly verdict?: string }[],
): string {
  const text = givenSentences.get(id)
  if (text === undefined) return verdicts.at(-1) ?? ''
  const own = items.filter(({ sentence }) => toLine(sentences[sentence - 1] ?? '') === text).slice(0, mostItemsOf(text))
  return verdicts.findLast((verdict) => own.some((item) => item.verdict === verdict)) ?? 'none'
}

/** The last verdict, with picks if it needs them. */
export function worstOf(question: AskedQuestion): ScriptedVerdict {
  const verdict = question.verdicts.at(-1) ?? ''
  return { verdict, picks: picksFor(question, verdict) }
}

/** One pick if the question requires one with this verdict, because an answer that contradicts itself does not count. */
export function picksFor({ text, picks }: AskedQuestion, verdict: string): readonly string[] {
  const needing = / at least one with ("[^;,.]*")/.exec(text)?.[1] ?? ''
  return picks !== undefined && needing.includes(`"${verdict}"`) ? picks.from.slice(0, 1) : []
}

function toAnswer(question: AskedQuestion, scripted: ScriptedVerdict): ReplyAnswer {
  const { verdict, reasoning = '', picks = [] } = typeof scripted === 'string' ? { verdict: scripted } : scripted
  return { id: question.shownId, reasoning, ...(question.picks && { [question.picks.name]: picks }), verdict }
}

/**
 * In a later call, an item becomes a question about a text that the prompt shows under the item's id. With `hardening: 'strong'`, the
 * sentences that items come from are among these texts.
 */
function verdictOnText(
  { shownId, text: asked, verdicts }: AskedQuestion,
  { sections, questions }: JudgePrompt,
  found: ScriptedVerdicts,
): ScriptedVerdict | undefined {
  const title = / with this id in "([^"]*)"/.exec(asked)?.[1]
  const list = title === undefined ? undefined : /^(?:texts for )?(\w+?)(?: found before)?$/.exec(title)?.[1]
  const items = list === undefined ? undefined : found.lists?.[list]?.map(toItem)
  if (title === undefined || items === undefined) return undefined
  const shown = new Map(
    [...(sections.get(title) ?? '').matchAll(/^(\w+): (.*)$/gm)].map(([, key = '', text = '']) => [key, text]),
  )
  const text = shown.get(shownId)
  const item = items.find((one) => toLine(one.text) === text)
  if (item !== undefined) {
    return item.verdict === undefined ? undefined : { verdict: item.verdict, reasoning: item.reasoning ?? '' }
  }
  const controls = new Set(questions.flatMap((question) => (question.isControl ? [question.shownId] : [])))
  const sentences = [...shown].flatMap(([key, sentence]) =>
    controls.has(key) || items.some((one) => toLine(one.text) === sentence) ? [] : [sentence],
  )
  const places = placeItems(items, sentences)
  const own = items
    .filter((_, index) => sentences[(places[index] ?? 0) - 1] === text)
    .slice(0, text === undefined ? 0 : mostItemsOf(text))
  if (own.length === 0) return 'none'
  // A sentence gets the worst verdict of its parts.
  return verdicts.findLast((verdict) => own.some((one) => one.verdict === verdict))
}

/**
 * Finds the number of the sentence that each item comes from: the one that shares the most words with it and has room for it. Does not
 * depend on the order of the sentences, which differs in each call.
 */
function placeItems(items: readonly { readonly text: string }[], sentences: readonly string[]): number[] {
  const room = sentences
    .map((text, index) => ({
      text,
      number: index + 1,
      words: wordsOf(text),
      left: mostItemsOf(text),
    }))
    .toSorted((one, other) => (one.text < other.text ? -1 : 1))
  return items.map(({ text }) => {
    const words = wordsOf(text)
    const shared = (own: ReadonlySet<string>): number => [...own].filter((word) => words.has(word)).length
    const best = room.toSorted(
      (one, other) =>
        Math.sign(other.left) - Math.sign(one.left) || shared(other.words) - shared(one.words) || other.left - one.left,
    )[0]
    if (best === undefined) return 1
    best.left = Math.max(0, best.left - 1)
    return best.number
  })
}

function sentencesWithout(list: AskedList, items: readonly { readonly sentence: number }[]): number[] {
  const covered = new Set(items.map(({ sentence }) => sentence))
  return list.sentences.map((_, index) => index + 1).filter((number) => !covered.has(number))
}

function wordsOf(text: string): Set<string> {
  return new Set(toWordPieces(text).flatMap((piece) => (piece.isWord ? [piece.text.toLowerCase()] : [])))
}

function toItem(item: ScriptedItem): Exclude<ScriptedItem, string> {
  return typeof item === 'string' ? { text: item } : item
}
