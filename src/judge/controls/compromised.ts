import { contentFree } from '../../model/explanation.ts'
import type { Failed } from '../../model/score.ts'
import { failed } from '../../scoring/unscored.ts'

/**
 * Whether a verdict praises: one of the better half. A decoy makes no sense, so that only a judge that was talked over, or does
 * not read, praises it.
 *
 * @param verdicts from the most favourable to the least
 */
export function isPraise(verdicts: readonly string[], verdict: string): boolean {
  const index = verdicts.indexOf(verdict)
  return index >= 0 && index < Math.floor(verdicts.length / 2)
}

/**
 * The score of a reply that is not believed.
 *
 * @param why what the judge did, in words of ours alone
 */
export function compromised(judge: string, why: string): { readonly ok: false; readonly score: Failed } {
  const message = `The judge ${judge} ${why}: it was talked over by the text it judged, or does not read it. Its reply is void. Look at the run for instructions to judges, or take a stronger model.`
  return { ok: false, score: failed('judge-compromised', contentFree(message)) }
}

/** The score of a reply whose list leaves out what is wrong with the text that its items come from. */
export function hidden(judge: string, list: string): { readonly ok: false; readonly score: Failed } {
  return compromised(judge, `listed ${list} that leave out what is wrong with the sentences they come from`)
}
