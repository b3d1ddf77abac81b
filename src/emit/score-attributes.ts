import { BoundedMap } from '../spans/bounded-map.ts'
import type { Evaluation, SkipReason } from '../model/score.ts'

/** A span or log attribute, as every SDK line takes it. */
export type AttributeValue = string | number | boolean

/** Attributes by name. */
export type ScoreAttributes = Record<string, AttributeValue>

/** Which explanations leave the process: those of `all` scorers, of `code` scorers only, or `none`. */
export type ExplanationPolicy = 'all' | 'code' | 'none'

/** Which explanations leave the process, and in which of their forms. */
export interface ExplanationRules {
  readonly explanations: ExplanationPolicy
  /** Whether what came out of a run's content is left out of them, and of messages. */
  readonly stripContent: boolean
}

/** Characters of an explanation that are kept. */
export const MAX_EXPLANATION_LENGTH = 1024

/** Characters of names and ids that are kept: of agents, conversations, responses. */
export const MAX_NAME_LENGTH = 256

/** Runs that were left out on purpose: they are counted, and nothing is written on their spans. */
const SILENT: ReadonlySet<SkipReason> = new Set(['sampled-out', 'filtered', 'thinned', 'refused', 'already-scored'])

/** Whether an evaluation is only counted: its run was left out on purpose, or has its score already. */
export function isSilent({ score }: Evaluation): boolean {
  return score.status === 'skipped' && SILENT.has(score.reason)
}

/** The `spanscore.<id>.*` attributes that an evaluation leaves on the agent's span, or on the late span; empty where it is silent. */
export function scoreAttributes(evaluation: Evaluation, rules: ExplanationRules): ScoreAttributes {
  if (isSilent(evaluation)) return {}
  const { score, scorer, complete, revision } = evaluation
  const names = namesOf(scorer.id)
  const attributes: ScoreAttributes = {}
  if (score.status === 'scored') {
    attributes[names.score] = score.value
    attributes[names.label] = score.label
    const explanation = explanationOf(evaluation, rules)
    if (explanation !== undefined) attributes[names.explanation] = explanation
  } else {
    attributes[names.status] = score.status
    attributes[names.statusReason] = score.status === 'skipped' ? score.reason : score.code
    const message = messageOf(evaluation, rules)
    if (message !== undefined) attributes[names.statusMessage] = message
  }
  attributes['spanscore.complete'] = complete
  attributes['spanscore.revision'] = revision
  return attributes
}

/**
 * The same with the version of the scorer, for the agent's own span: whatever sees the span later, in this process or in a service,
 * can compare it with the version that it would score with. Late spans have it as events do.
 */
export function withVersion(attributes: ScoreAttributes, { score, scorer }: Evaluation): ScoreAttributes {
  if (score.status === 'scored') attributes[namesOf(scorer.id).version] = scorer.version
  return attributes
}

/** Whether a span carries the score of a scorer in this version. */
export function carriesScore(
  attributes: Readonly<Record<string, unknown>>,
  { id, version }: Pick<Evaluation['scorer'], 'id' | 'version'>,
): boolean {
  const names = namesOf(id)
  return attributes[names.score] !== undefined && attributes[names.version] === version
}

interface Names {
  readonly score: string
  readonly version: string
  readonly label: string
  readonly explanation: string
  readonly status: string
  readonly statusReason: string
  readonly statusMessage: string
}

/** As many scorers as a process may reasonably have. */
const MAX_KNOWN = 1000

const known = new BoundedMap<string, Names>(MAX_KNOWN)

/** Made once for each scorer, because looking up a key is slower where its text was just put together. */
function namesOf(scorerId: string): Names {
  const names = known.get(scorerId)
  if (names !== undefined) return names
  const prefix = `spanscore.${scorerId}`
  const made: Names = {
    score: `${prefix}.score`,
    version: `${prefix}.version`,
    label: `${prefix}.label`,
    explanation: `${prefix}.explanation`,
    status: `${prefix}.status`,
    statusReason: `${prefix}.status_reason`,
    statusMessage: `${prefix}.status_message`,
  }
  known.set(scorerId, made)
  return made
}

/** The explanation as it may leave the process, cut to its length limit; `undefined` where there is none, or it must not. */
export function explanationOf(
  { score, scorer }: Evaluation,
  { explanations, stripContent }: ExplanationRules,
): string | undefined {
  if (score.status !== 'scored') return undefined
  if (explanations === 'none' || (explanations === 'code' && scorer.kind === 'judge')) return undefined
  const text = stripContent ? score.explanationWithoutContent : score.explanation
  return text === undefined || text === '' ? undefined : shortened(text, MAX_EXPLANATION_LENGTH)
}

/** The message of a score that was skipped or failed, as it may leave the process: it may quote content, as explanations do. */
function messageOf(
  { score, scorer }: Evaluation,
  { explanations, stripContent }: ExplanationRules,
): string | undefined {
  if (score.status === 'scored') return undefined
  const isWhole = !stripContent && (explanations === 'all' || (explanations === 'code' && scorer.kind === 'code'))
  const text = isWhole ? score.message : score.messageWithoutContent
  return text === undefined || text === '' ? undefined : shortened(text, MAX_EXPLANATION_LENGTH)
}

/** The first characters of a text, not through the middle of a surrogate pair: half a character is not valid UTF-8 on the wire. */
export function shortened(text: string, maxLength: number): string {
  return text.length <= maxLength ? text : text.slice(0, maxLength).replace(/[\uD800-\uDBFF]$/, '')
}
