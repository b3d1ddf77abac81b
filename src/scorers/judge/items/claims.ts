/** What the evidence says about a claim, from most to least favourable. */
export const claimVerdicts = ['supported', 'not_stated', 'contradicted'] as const

/** The evidence says so; it lacks the claim or one of its details; or it says otherwise. */
export type ClaimVerdict = (typeof claimVerdicts)[number]

/** The largest share of claims that the evidence may lack. A fifth lets one of five pass, such as a kinship that a name suggests. */
const MOST_NOT_STATED = 0.2

/**
 * A contradicted claim fails, and so do more claims that the evidence lacks than one in five. Of 8 bad summaries of FaithBench, this
 * found 4, and passed 6 or 7 of 8 good ones. The share of claims alone found 1. Counting any claim that is not supported found 5, and
 * passed 6; but answers of agents say harmless things that the evidence does not state.
 */
export function labelOfClaims(verdicts: readonly ClaimVerdict[]): 'pass' | 'fail' {
  const lacking = verdicts.filter((verdict) => verdict === 'not_stated').length
  const isWrong = verdicts.includes('contradicted') || lacking > MOST_NOT_STATED * verdicts.length
  return isWrong ? 'fail' : 'pass'
}

/** Describes the claims of a text. */
export function claimInstruction(text: string): string {
  return `Every single factual claim that ${text} makes or implies, one fact each, in words that can be understood alone; take sentences that hold several facts apart. Opinions, advice, questions, offers of help and remarks about the text itself ("here is a summary", "the passage describes …") are no claims`
}

/** Says when a claim gets each verdict. */
export function claimQuestion(evidence: string): string {
  return `compare the claim with the passage of ${evidence} that it rests on. "supported" if ${evidence} says so, in whatever words, or it follows from it; "contradicted" if ${evidence} says otherwise, be it in one detail: a name, number, date or place, an order or cause, a degree ("may" and "will", "some" and "all"), who did or said it; "not_stated" if ${evidence} lacks the claim or one of its details, even where you know it to be true.`
}
