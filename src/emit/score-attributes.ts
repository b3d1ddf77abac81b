import { BoundedMap } from '../spans/bounded-map.ts'
import type { CallScore, Evaluation, SkipReason } from '../model/score.ts'

/** A value of a span or log attribute that every SDK line accepts. */
export type AttributeValue = string | number | boolean

/** Attributes by name. */
export type ScoreAttributes = Record<string, AttributeValue>

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

/** Skip reasons of runs that were left out on purpose. They are counted, and nothing is written on their spans. */
const SILENT: ReadonlySet<SkipReason> = new Set(['sampled-out', 'filtered', 'thinned', 'refused', 'already-scored'])

/** Whether an evaluation is only counted, because its run was left out on purpose or has its score already. */
export function isSilent({ score }: Evaluation): boolean {
  return score.status === 'skipped' && SILENT.has(score.reason)
}

/** The `spanscore.<id>.*` attributes of an evaluation, for the agent's span or the late span; empty if `isSilent`. */
export function scoreAttributes(evaluation: Evaluation, rules: ExplanationRules): ScoreAttributes {
  if (isSilent(evaluation)) return {}
  return addScore({}, evaluation, rules)
}

/** Adds the `spanscore.*` attributes of an evaluation that are the same on the agent's span and on the late span. */
export function addScore(
  attributes: ScoreAttributes,
  evaluation: Evaluation,
  rules: ExplanationRules,
): ScoreAttributes {
  const { score, scorer, complete, revision } = evaluation
  const names = namesOf(scorer.id)
  if (score.status === 'scored') {
    attributes[names.score] = score.value
    attributes[names.label] = score.label
    const explanation = explanationOf(evaluation, rules)
    if (explanation !== undefined) attributes[names.explanation] = explanation
    if (evaluation.calls !== undefined) addCalls(attributes, evaluation.calls, names)
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

function addCalls(attributes: ScoreAttributes, calls: readonly CallScore[], names: Names): void {
  const scored = calls.filter(({ score }) => score.status === 'scored')
  attributes[names.calls] = scored.length
  attributes[names.callsFailed] = scored.filter(
    ({ score }) => score.status === 'scored' && score.label === 'fail',
  ).length
}

/**
 * Adds the version of the scorer, for the agent's own span. Another processor or a service that sees the span later can compare it
 * with the version of its own scorer. Late spans have the version among the attributes of the event.
 */
export function withVersion(attributes: ScoreAttributes, { score, scorer }: Evaluation): ScoreAttributes {
  if (score.status === 'scored') attributes[namesOf(scorer.id).version] = scorer.version
  return attributes
}

/**
 * Whether a span has the score of this version of a scorer already. A score is a number: what callers send, for example as baggage that
 * is copied to spans, is text, and must not keep a run from being scored.
 */
export function carriesScore(
  attributes: Readonly<Record<string, unknown>>,
  { id, version }: Pick<Evaluation['scorer'], 'id' | 'version'>,
): boolean {
  const names = namesOf(id)
  return typeof attributes[names.score] === 'number' && attributes[names.version] === version
}

interface Names {
  readonly score: string
  readonly version: string
  readonly label: string
  readonly explanation: string
  readonly calls: string
  readonly callsFailed: string
  readonly status: string
  readonly statusReason: string
  readonly statusMessage: string
}

/** More scorers than a process reasonably has. */
const MAX_KNOWN = 1000

const known = new BoundedMap<string, Names>(MAX_KNOWN)

/** The attribute names of a scorer. They are built once, because lookups by a newly built string are slower. */
function namesOf(scorerId: string): Names {
  const names = known.get(scorerId)
  if (names !== undefined) return names
  const prefix = `spanscore.${scorerId}`
  const made: Names = {
    score: `${prefix}.score`,
    version: `${prefix}.version`,
    label: `${prefix}.label`,
    explanation: `${prefix}.explanation`,
    calls: `${prefix}.calls`,
    callsFailed: `${prefix}.calls_failed`,
    status: `${prefix}.status`,
    statusReason: `${prefix}.status_reason`,
    statusMessage: `${prefix}.status_message`,
  }
  known.set(scorerId, made)
  return made
}

/** The explanation in the form that may leave the process, shortened; `undefined` if there is none or it must not leave. */
export function explanationOf(
  { score, scorer }: Evaluation,
  { explanations, stripContent }: ExplanationRules,
): string | undefined {
  if (score.status !== 'scored') return undefined
  if (explanations === 'none' || (explanations === 'code' && scorer.kind === 'judge')) return undefined
  const text = stripContent ? score.explanationWithoutContent : score.explanation
  return text === undefined || text === '' ? undefined : shortened(text, MAX_EXPLANATION_LENGTH)
}

/** The message of a skipped or failed score in the form that may leave the process: like an explanation, it may quote content. */
function messageOf(
  { score, scorer }: Evaluation,
  { explanations, stripContent }: ExplanationRules,
): string | undefined {
  if (score.status === 'scored') return undefined
  const isWhole = !stripContent && (explanations === 'all' || (explanations === 'code' && scorer.kind === 'code'))
  const text = isWhole ? score.message : score.messageWithoutContent
  return text === undefined || text === '' ? undefined : shortened(text, MAX_EXPLANATION_LENGTH)
}

/** The first characters of a text. A surrogate pair is not cut in half, because half of one is not valid UTF-8 on the wire. */
export function shortened(text: string, maxLength: number): string {
  return text.length <= maxLength ? text : text.slice(0, maxLength).replace(/[\uD800-\uDBFF]$/, '')
}
