import type { ItemList } from '../../../judge/inquiry.ts'

/** What the evidence says about a claim, from most to least favourable. */
export const claimVerdicts = ['supported', 'harmless', 'not_stated', 'contradicted'] as const

/**
 * The evidence says so; it lacks only what a word of its own implies; it lacks the claim or one of its details; or it says otherwise.
 */
export type ClaimVerdict = (typeof claimVerdicts)[number]

/** The most claims of an answer. */
export const MAX_CLAIMS = 30

/** Whether a claim counts as supported. */
export function isSupported(verdict: ClaimVerdict | undefined): boolean {
  return verdict === 'supported' || verdict === 'harmless'
}

/**
 * Any claim that the evidence does not support fails. On 60 readings of FaithBench's summaries this was right in 38, where one claim in five
 * was allowed in 32: people mark a single invention. What they do not mind is `harmless`.
 */
export function labelOfClaims(verdicts: readonly ClaimVerdict[]): 'pass' | 'fail' {
  return verdicts.every(isSupported) ? 'pass' : 'fail'
}

/** The claims of a text, each compared with the evidence. */
export function claimList(text: string, evidence: string): ItemList {
  return {
    name: 'claims',
    prefix: 'c',
    instruction: `every factual claim that ${text} makes or implies, in words that can be understood alone. Opinions, advice, questions, offers, plans and remarks about the text itself ("here is a summary") are no claims; a fact within such a remark ("it also says that he was in …") is one`,
    question: { text: claimQuestion(evidence), verdicts: claimVerdicts },
    max: MAX_CLAIMS,
  }
}

/** Says when a claim gets each verdict. */
function claimQuestion(evidence: string): string {
  return `Compare it with the passage of ${evidence} that it rests on.
  "supported": ${evidence} says so, in whatever words, or it follows from it;
  "harmless": what ${evidence} lacks is only what one of its own words implies: the kind of a named thing ("the film" before a title, "football club"), "his son" for "Jr.", the city of an airport code. A name, a place, a time, a number or a circumstance that it lacks is never harmless;
  "not_stated": ${evidence} lacks the claim or a detail of it, even where you know it to be true; or it only says that somebody says so, and the claim tells it as a fact;
  "contradicted": ${evidence} says otherwise, be it in one detail: a name, number, date or place, an order or cause, a degree ("may" and "will", "some" and "all", "known" and "famous"), who did or said it. A near synonym, a spelling and a rounded number are no contradiction. Where ${evidence} contradicts itself, what a tool returned counts more than a rule, and otherwise either is supported.`
}
