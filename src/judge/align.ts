import type { Answer, Item, ItemList, Question } from './inquiry.ts'
import type { RawAnswer } from './reply-schema.ts'

/**
 * Holds the answers of a reply against the questions: whatever order they come in, however often, and whatever stands beside
 * them. An id that was not asked is ignored. An id whose answers contradict one another, or give a verdict that it does not
 * have, has no answer.
 */
export function align(questions: readonly Question[], given: readonly RawAnswer[]): Map<string, Answer> {
  const answers = new Map<string, Answer>()
  for (const question of questions) {
    const own = given.filter(({ id }) => normalId(id) === normalId(question.id)).map((raw) => toAnswer(question, raw))
    const [first] = own
    if (first !== undefined && own.every((answer) => answer !== undefined && agrees(first, answer))) {
      answers.set(question.id, first)
    }
  }
  return answers
}

/** An item under an id of ours, and the id under which the reply answers for it, where that names nothing else. */
export interface NumberedItem extends Item {
  readonly givenId?: string
}

/**
 * The items of a list under ids of ours: what the judge calls an item may be put into its mouth, and must not find its way into
 * the next prompt. Items of the same words are one.
 *
 * @param names how many things each id of the reply names, in all of its lists and questions
 */
export function numberItems(
  list: ItemList,
  given: readonly { readonly id: string; readonly text: string }[],
  names: ReadonlyMap<string, number>,
): NumberedItem[] {
  return distinctItems(given)
    .slice(0, list.max)
    .map(({ id, text }, index) => ({
      id: `${list.prefix}${index + 1}`,
      text,
      ...(names.get(normalId(id)) === 1 && { givenId: id }),
    }))
}

/** How many things each id names. */
export function countNames(
  lists: Iterable<readonly { readonly id: string; readonly text: string }[]>,
  questions: readonly Question[],
): Map<string, number> {
  const names = new Map<string, number>()
  const ids = [...lists].flatMap(distinctItems).map(({ id }) => id)
  for (const id of [...ids, ...questions.map((question) => question.id)]) {
    names.set(normalId(id), (names.get(normalId(id)) ?? 0) + 1)
  }
  return names
}

function distinctItems<T extends { readonly text: string }>(given: readonly T[]): T[] {
  return given.filter(({ text }, index) => given.findIndex((other) => other.text === text) === index)
}

/** The question that is asked of one item, by its id. */
export function itemQuestion(list: ItemList, id: string): Question | undefined {
  return list.question && { id, ...list.question }
}

function toAnswer(question: Question, raw: RawAnswer): Answer | undefined {
  const verdict = question.verdicts.find((allowed) => isSameVerdict(allowed, raw.verdict))
  if (verdict === undefined) return undefined
  const { picks } = question
  const picked = [...new Set(raw.picks.filter((id) => picks?.from.includes(id)))].toSorted()
  if (picks?.required?.includes(verdict) === true && picked.length === 0) return undefined
  if (picks?.forbidden?.includes(verdict) === true && picked.length > 0) return undefined
  return { verdict, reasoning: raw.reasoning.trim(), picks: picked }
}

/** Case and blanks do not matter; a number is the number that it is; true and false are yes and no, pass and fail. */
function isSameVerdict(allowed: string, given: unknown): boolean {
  if (typeof given === 'boolean') return (given ? ['yes', 'pass'] : ['no', 'fail']).includes(allowed)
  if (typeof given !== 'string' && typeof given !== 'number') return false
  const text = String(given).trim().toLowerCase()
  if (text === allowed.toLowerCase()) return true
  return /^[\d.]+$/.test(text) && /^[\d.]+$/.test(allowed) && Number(text) === Number(allowed)
}

function normalId(id: string): string {
  return id.trim().toLowerCase()
}

function agrees(one: Answer, other: Answer): boolean {
  return one.verdict === other.verdict && one.picks.join('\n') === other.picks.join('\n')
}
