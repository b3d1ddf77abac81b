import { contentFree } from '../../model/explanation.ts'
import type { Explanation } from '../../model/explanation.ts'
import { formatValue } from '../../scoring/format-value.ts'
import type { Answer, Question } from '../inquiry.ts'
import type { RawAnswer } from './read-reply.ts'

/** A valid answer, or what is wrong with it, as the end of a sentence: `has …`. */
export type ReadVerdict = { readonly answer: Answer } | { readonly wrong: Explanation }

/** Reads all that a reply says about one id. Equal answers count once; different ones contradict each other. */
export function readVerdicts(question: Omit<Question, 'ids'>, raw: readonly RawAnswer[]): ReadVerdict {
  const read = raw.map((one) => readVerdict(question, one))
  const [first = { wrong: contentFree('no verdict') }, ...others] = read
  if ('wrong' in first) return first
  const { verdict, tools } = first.answer
  const isSame = (other: ReadVerdict): boolean =>
    'answer' in other && other.answer.verdict === verdict && other.answer.tools.join() === tools.join()
  return others.every(isSame) ? first : { wrong: contentFree('answers that contradict each other') }
}

function readVerdict({ verdicts, tools }: Omit<Question, 'ids'>, raw: RawAnswer): ReadVerdict {
  const verdict = verdicts.find((allowed) => isSameVerdict(allowed, raw.verdict))
  if (verdict === undefined) {
    if (raw.verdict === undefined || raw.verdict === null) return { wrong: contentFree('no verdict') }
    const allowed = verdicts.join(' | ')
    const withoutContent = `a verdict that is not one of ${allowed}`
    const isText = typeof raw.verdict === 'string'
    const text = isText ? `the verdict ${formatValue(raw.verdict)}, which is not one of ${allowed}` : withoutContent
    return { wrong: { text, withoutContent } }
  }
  const named = tools?.with.includes(verdict) === true ? raw.tools : []
  const ids = named.flatMap((name) =>
    tools?.ids.includes(name) === true ? name : (tools?.byName.get(name.trim()) ?? []),
  )
  if (ids.length === 0 && tools?.neededWith?.includes(verdict) === true) {
    return { wrong: contentFree(`the verdict "${verdict}" without one of the offered tools`) }
  }
  return { answer: { verdict, reasoning: raw.reasoning, tools: [...new Set(ids)].toSorted() } }
}

/** Compares verdicts, ignoring case and blanks. A number equals its digits; true means yes or pass, false means no or fail. */
function isSameVerdict(allowed: string, given: unknown): boolean {
  if (typeof given === 'boolean') return (given ? ['yes', 'pass'] : ['no', 'fail']).includes(allowed)
  if (typeof given !== 'string' && typeof given !== 'number') return false
  const text = String(given).trim().toLowerCase()
  if (text === allowed.toLowerCase()) return true
  return /^[\d.]+$/.test(text) && /^[\d.]+$/.test(allowed) && Number(text) === Number(allowed)
}
