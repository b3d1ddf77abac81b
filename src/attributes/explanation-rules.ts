import type { Finding } from '../model/finding.ts'
import type { Evaluation } from '../model/score.ts'

/** Which explanations leave the process: those of `all` scorers, of `code` scorers only, or `none`. */
export type ExplanationPolicy = 'all' | 'code' | 'none'

/** Which explanations leave the process, and whether content is removed from them. */
export interface ExplanationRules {
  /** Those of all scorers, of code scorers only, or none. */
  readonly explanations: ExplanationPolicy
  /** Whether text from the run's content is removed from explanations and messages. */
  readonly stripContent: boolean
}

/** How many characters of an explanation are kept. */
export const MAX_EXPLANATION_LENGTH = 1024

/** How many characters of names and ids are kept: of agents, conversations, responses. */
export const MAX_NAME_LENGTH = 256

/** The explanation in the form that may leave the process, shortened; `undefined` if there is none or it must not leave. */
export function explanationOf(
  { score, scorer }: Evaluation,
  { explanations, stripContent }: ExplanationRules,
): string | undefined {
  if (score.status !== 'scored' || !allows(explanations, scorer)) return undefined
  const text = stripContent ? score.explanationWithoutContent : score.explanation
  return text === undefined || text === '' ? undefined : shortened(text, MAX_EXPLANATION_LENGTH)
}

/** How many characters of the findings are kept, as JSON. */
const MAX_FINDINGS_LENGTH = 4096

/**
 * The findings as JSON, if they may leave the process: they quote the run, as explanations do. Above the limit, those that are as they should
 * be are left out first, then the last ones.
 */
export function findingsTextOf(
  { score, scorer }: Evaluation,
  { explanations, stripContent }: ExplanationRules,
): string | undefined {
  if (score.status !== 'scored' || score.findings === undefined) return undefined
  if (stripContent || !allows(explanations, scorer)) return undefined
  const all = JSON.stringify(score.findings)
  if (all.length <= MAX_FINDINGS_LENGTH) return all
  const kept: string[] = []
  let length = 1
  for (const finding of score.findings.toSorted(badFirst)) {
    const text = JSON.stringify(finding)
    length += text.length + 1
    if (length > MAX_FINDINGS_LENGTH) break
    kept.push(text)
  }
  return kept.length === 0 ? undefined : `[${kept.join(',')}]`
}

const RANKS = { bad: 0, open: 1, good: 2 } as const

function badFirst(left: Finding, right: Finding): number {
  return RANKS[left.rating] - RANKS[right.rating]
}

function allows(explanations: ExplanationPolicy, { kind }: Evaluation['scorer']): boolean {
  return explanations === 'all' || (explanations === 'code' && kind === 'code')
}

/** The message of a skipped or failed score in the form that may leave the process: like an explanation, it may quote content. */
export function messageOf(
  { score, scorer }: Evaluation,
  { explanations, stripContent }: ExplanationRules,
): string | undefined {
  if (score.status === 'scored') return undefined
  const isWhole = !stripContent && allows(explanations, scorer)
  const text = isWhole ? score.message : score.messageWithoutContent
  return text === undefined || text === '' ? undefined : shortened(text, MAX_EXPLANATION_LENGTH)
}

/** The first characters of a text. A surrogate pair is not cut in half, because half of one is not valid UTF-8 on the wire. */
export function shortened(text: string, maxLength: number): string {
  return text.length <= maxLength ? text : text.slice(0, maxLength).replace(/[\uD800-\uDBFF]$/, '')
}
