import type { Answer, Item, ItemList, Picks, Question } from '../inquiry.ts'
import { countWords } from '../prompt/segments.ts'
import type { RawAnswer, RawItem } from './reply-schema.ts'

/**
 * Matches the answers of a reply to the questions, whatever their order, repetitions and additions. Answers to unknown ids are ignored. An
 * id whose answers contradict one another, or give a verdict that it does not have, has no answer.
 */
export function align(questions: readonly Question[], given: readonly RawAnswer[]): Map<string, Answer> {
  const byId = Map.groupBy(given, ({ id }) => normalId(id))
  const answers = new Map<string, Answer>()
  for (const question of questions) {
    for (const id of question.ids) {
      const own = (byId.get(normalId(id)) ?? []).map((raw) => toAnswer(question, raw))
      const [first] = own
      if (first !== undefined && own.every((answer) => answer !== undefined && agrees(first, answer))) {
        answers.set(id, first)
      }
    }
  }
  return answers
}

/** Whether the answer lacks picks that its verdict should have. */
export function lacksPicks({ picks }: Question, answer: Answer): boolean {
  return answer.picks.length === 0 && picks?.wanted?.includes(answer.verdict) === true
}

/** An item under our own id, with the id by which the reply answers for it if that id is unique. */
export interface NumberedItem extends Item {
  readonly givenId?: string
}

/** The most items for a sentence: one for every three words. */
export function mostItemsOf(sentence: string): number {
  return Math.max(1, Math.ceil(countWords(sentence) / 3))
}

/**
 * Gives the items of a list our own ids: the judged text may influence what the judge calls an item, and that must not reach the next
 * prompt. Items with the same words are merged. Items that name no sentence of the text are dropped, and so are those beyond one for every
 * three words of their sentence. If the list is still too long, each sentence keeps its first items.
 *
 * @param sentences the sentences of the text that the items come from
 * @param names how often each id is used in the lists and questions of the reply
 */
export function numberItems(
  list: ItemList,
  given: readonly RawItem[],
  sentences: readonly string[],
  names: ReadonlyMap<string, number>,
): NumberedItem[] {
  const counts = new Map<number, number>()
  const kept = distinctItems(given).flatMap((item) => {
    const { sentence = 0 } = item
    const text = sentences[sentence - 1]
    const count = counts.get(sentence) ?? 0
    if (text === undefined || count >= mostItemsOf(text)) return []
    counts.set(sentence, count + 1)
    return [{ ...item, sentence, isFirst: count === 0 }]
  })
  const spare = Math.max(0, list.max - kept.filter(({ isFirst }) => isFirst).length)
  const others = new Set(kept.filter(({ isFirst }) => !isFirst).slice(0, spare))
  return kept
    .filter((item) => item.isFirst || others.has(item))
    .slice(0, list.max)
    .map(({ id, text, sentence }, index) => ({
      id: `${list.prefix}${index + 1}`,
      text,
      sentence,
      ...(names.get(normalId(id)) === 1 && { givenId: id }),
    }))
}

/** Counts how often each id is used. */
export function countNames(lists: Iterable<readonly RawItem[]>, questions: readonly Question[]): Map<string, number> {
  const names = new Map<string, number>()
  const ids = [...lists].flatMap(distinctItems).map(({ id }) => id)
  for (const id of [...ids, ...questions.flatMap((question) => question.ids)]) {
    names.set(normalId(id), (names.get(normalId(id)) ?? 0) + 1)
  }
  return names
}

function distinctItems<T extends { readonly text: string }>(given: readonly T[]): T[] {
  return given.filter(({ text }, index) => given.findIndex((other) => other.text === text) === index)
}

/** The question about items, by their ids. */
export function itemQuestion(list: ItemList, ids: readonly string[]): Question | undefined {
  return list.question && { ids, ...list.question }
}

function toAnswer(question: Question, raw: RawAnswer): Answer | undefined {
  const verdict = question.verdicts.find((allowed) => isSameVerdict(allowed, raw.verdict))
  if (verdict === undefined) return undefined
  const { picks } = question
  const picked = [...new Set(raw.picks.flatMap((pick) => toPick(picks, pick)))].toSorted()
  if (picks?.required?.includes(verdict) === true && picked.length === 0) return undefined
  if (picks?.forbidden?.includes(verdict) === true && picked.length > 0) return undefined
  return { verdict, reasoning: raw.reasoning.trim(), picks: picked }
}

/** The id that was picked, by id or else by name; nothing if it is unknown. */
function toPick(picks: Picks | undefined, pick: string): string | [] {
  if (picks?.from.includes(pick) === true) return pick
  return picks?.byName?.get(pick.trim()) ?? []
}

/** Compares verdicts, ignoring case and blanks. A number equals its digits; true means yes or pass, false means no or fail. */
function isSameVerdict(allowed: string, given: unknown): boolean {
  if (typeof given === 'boolean') return (given ? ['yes', 'pass'] : ['no', 'fail']).includes(allowed)
  if (typeof given !== 'string' && typeof given !== 'number') return false
  const text = String(given).trim().toLowerCase()
  if (text === allowed.toLowerCase()) return true
  return /^[\d.]+$/.test(text) && /^[\d.]+$/.test(allowed) && Number(text) === Number(allowed)
}

/** Normalizes the case and blanks of an id. */
export function normalId(id: string): string {
  return id.trim().toLowerCase()
}

function agrees(one: Answer, other: Answer): boolean {
  return one.verdict === other.verdict && one.picks.join('\n') === other.picks.join('\n')
}
