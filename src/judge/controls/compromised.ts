import { contentFree } from '../../model/explanation.ts'
import type { Failed } from '../../model/score.ts'
import { failed } from '../../scoring/unscored.ts'

/**
 * Whether a verdict is in the better half. A decoy makes no sense, so only a judge that was manipulated, or does not read the text, praises
 * it.
 *
 * @param verdicts from most to least favourable
 */
export function isPraise(verdicts: readonly string[], verdict: string): boolean {
  const index = verdicts.indexOf(verdict)
  return index >= 0 && index < Math.floor(verdicts.length / 2)
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
