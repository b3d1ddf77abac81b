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
    const own = given.filter(({ id }) => sameId(id, question.id)).map((raw) => toAnswer(question, raw))
    const [first] = own
    if (first !== undefined && own.every((answer) => answer !== undefined && agrees(first, answer))) {
      answers.set(question.id, first)
    }
  }
  return answers
}

/**
 * The items of a list under ids that name one each. Items of the same words are one; where two have one id, the id names
 * neither, and both get new ones, under which they have no answer yet.
 */
export function toItemsById(list: ItemList, given: readonly { readonly id: string; readonly text: string }[]): Item[] {
  const distinct = given.filter(({ text }, index) => given.findIndex((other) => other.text === text) === index)
  const taken = distinct.map(({ id }) => id.trim())
  let next = 0
  const fresh = (): string => {
    do next += 1
    while (taken.includes(`${list.prefix}${next}x`))
    return `${list.prefix}${next}x`
  }
  return distinct.slice(0, list.max).map(({ id, text }) => {
    const unique = taken.filter((other) => other === id.trim()).length === 1 && /^[\w.-]{1,40}$/.test(id.trim())
    return { id: unique ? id.trim() : fresh(), text }
  })
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

function sameId(given: string, asked: string): boolean {
  return given.trim().toLowerCase() === asked.toLowerCase()
}

function agrees(one: Answer, other: Answer): boolean {
  return one.verdict === other.verdict && one.picks.join('\n') === other.picks.join('\n')
}
