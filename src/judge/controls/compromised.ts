import { contentFree } from '../../model/explanation.ts'
import type { Failed } from '../../model/score.ts'
import { failed } from '../../scoring/unscored.ts'
import type { Question } from '../inquiry.ts'

/**
 * Whether a verdict is in the better half.
 *
 * @param verdicts from most to least favourable
 */
export function isPraise(verdicts: readonly string[], verdict: string): boolean {
  const index = verdicts.indexOf(verdict)
  return index >= 0 && index < Math.floor(verdicts.length / 2)
}

/** The verdict on a text that makes no sense, and the question that it answers. */
export interface ControlAnswer {
  readonly question: Pick<Question, 'verdicts' | 'raising'>
  readonly verdict: string
}

/**
 * Whether a judge praises texts that make no sense: one of them, or most of them by a verdict between praise and the worst. A judge that
 * does so was manipulated, or does not read the text. If middle verdicts did not count, a judge could raise bad scores by giving nothing
 * else. An honest judge may give one by mistake.
 */
export function praisesNonsense(controls: readonly ControlAnswer[]): boolean {
  if (controls.some(({ question, verdict }) => isPraise(question.verdicts, verdict))) return true
  const graded = controls.filter(({ question }) => (question.raising ?? 0) > Math.floor(question.verdicts.length / 2))
  const middling = graded.filter(({ question: { verdicts, raising = 0 }, verdict }) =>
    verdicts.slice(0, raising).includes(verdict),
  )
  return middling.length > graded.length / 2
}

/**
 * The score of a reply that cannot be trusted.
 *
 * @param why what the judge did, in our own words only
 */
export function compromised(judge: string, why: string): { readonly ok: false; readonly score: Failed } {
  const message = `The judge ${judge} ${why}: the judged text manipulated it, or it did not read the text. Its reply is void. Check the run for instructions to judges, or use a stronger model.`
  return { ok: false, score: failed('judge-compromised', contentFree(message)) }
}

/** The score of a reply whose list omits what is wrong with its source text. */
export function hidden(judge: string, list: string): { readonly ok: false; readonly score: Failed } {
  return compromised(judge, `listed ${list} that leave out what is wrong with the sentences they come from`)
}
