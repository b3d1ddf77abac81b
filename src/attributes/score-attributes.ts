import type { CallScore, Evaluation, SkipReason } from '../model/score.ts'
import { weightOf } from '../sampling/weight.ts'
import { BoundedMap } from '../spans/bounded-map.ts'
import { readAttribute } from './attribute-table.ts'
import type { ReadAttribute, ScoreAttributes } from './attribute-table.ts'
import { explanationOf, messageOf } from './explanation-rules.ts'
import type { ExplanationRules } from './explanation-rules.ts'

/** Attributes of the agent's span, or of the late span, by the part of their names after `spanscore.<id>.`. */
export const SCORE_ATTRIBUTES = {
  score: { type: 'double', doc: "The score, in the scorer's own units." },
  label: { type: 'string', doc: '`pass` or `fail`, by the pass mark.' },
  calls: { type: 'int', doc: "How many calls have a score, of a scorer of calls; only on the agent's span." },
  calls_failed: { type: 'int', doc: 'How many of these calls fail.' },
  version: { type: 'string', doc: "The scorer's version, 8 characters; only on the agent's span." },
  weight: {
    type: 'double',
    doc: "How many runs the run counts for, because of sampling; only on the agent's span, and absent if it is 1.",
  },
  found: {
    type: 'int',
    doc: 'How many texts tried to command the agent, obeyed or not: `injection`. Also on the event.',
  },
  explanation: { type: 'string', doc: 'The explanation, 1,024 characters at most, if `emit.explanations` allows it.' },
  status: { type: 'string', doc: '`skipped` or `failed`, if there is no score.' },
  status_reason: { type: 'string', doc: 'The reason or the code: see [reasons.md](reasons.md).' },
  status_message: {
    type: 'string',
    doc: 'What happened and what to do. Content in it is left out unless `emit.explanations` allows it.',
  },
} as const

type Part = keyof typeof SCORE_ATTRIBUTES
type Names = Readonly<Record<Part, string>>

/** Skip reasons of runs that were left out on purpose. They are counted, and nothing is written on their spans. */
const SILENT: ReadonlySet<SkipReason> = new Set(['sampled-out', 'filtered', 'thinned', 'refused', 'already-scored'])

/** Whether an evaluation is only counted, because its run was left out on purpose or has its score already. */
export function isSilent({ score }: Evaluation): boolean {
  return score.status === 'skipped' && SILENT.has(score.reason)
}

/** The attributes of an evaluation on the agent's span; empty if `isSilent`. */
export function scoreAttributes(evaluation: Evaluation, rules: ExplanationRules): ScoreAttributes {
  if (isSilent(evaluation)) return {}
  const { score, scorer, complete, revision } = evaluation
  const attributes = addScore({}, evaluation, rules)
  attributes['spanscore.complete'] = complete
  attributes['spanscore.revision'] = revision
  // Another processor or a service that sees the span later compares it with the version of its own scorer: see `carriesScore`.
  if (score.status === 'scored') {
    attributes[namesOf(scorer.id).version] = scorer.version
    const weight = weightOf(evaluation)
    if (weight !== undefined && weight !== 1) attributes[namesOf(scorer.id).weight] = weight
  }
  return attributes
}

/** Adds the `spanscore.<id>.*` attributes that are the same on the agent's span and on the late span. */
export function addScore(
  attributes: ScoreAttributes,
  evaluation: Evaluation,
  rules: ExplanationRules,
): ScoreAttributes {
  const { score, scorer, calls } = evaluation
  const names = namesOf(scorer.id)
  if (score.status === 'scored') {
    attributes[names.score] = score.value
    attributes[names.label] = score.label
    if (score.found !== undefined) attributes[names.found] = score.found
    const explanation = explanationOf(evaluation, rules)
    if (explanation !== undefined) attributes[names.explanation] = explanation
    if (calls !== undefined) addCalls(attributes, calls, names)
  } else {
    attributes[names.status] = score.status
    attributes[names.status_reason] = score.status === 'skipped' ? score.reason : score.code
    const message = messageOf(evaluation, rules)
    if (message !== undefined) attributes[names.status_message] = message
  }
  return attributes
}

function addCalls(attributes: ScoreAttributes, calls: readonly CallScore[], names: Names): void {
  const scored = calls.filter(({ score }) => score.status === 'scored')
  attributes[names.calls] = scored.length
  attributes[names.calls_failed] = scored.filter(
    ({ score }) => score.status === 'scored' && score.label === 'fail',
  ).length
}

/**
 * Whether a span has the score of this version of a scorer already. A score is a number: what callers send, for example as baggage that
 * is copied to spans, is text, and must not keep a run from being scored.
 */
export function carriesScore(
  attributes: Readonly<Record<string, unknown>>,
  { id, version }: Pick<Evaluation['scorer'], 'id' | 'version'>,
): boolean {
  return (
    readScoreAttribute(attributes, id, 'score') !== undefined &&
    readScoreAttribute(attributes, id, 'version') === version
  )
}

/** Reads one of the attributes of a scorer from a span; `undefined` if it is absent or of another type. */
export function readScoreAttribute<Name extends Part>(
  attributes: Readonly<Record<string, unknown>>,
  scorerId: string,
  part: Name,
): ReadAttribute<(typeof SCORE_ATTRIBUTES)[Name]> {
  return readAttribute(SCORE_ATTRIBUTES[part], attributes[namesOf(scorerId)[part]])
}

/** Adds what events have of these attributes, by the same name. */
export function addFound(attributes: ScoreAttributes, { score, scorer }: Evaluation): ScoreAttributes {
  if (score.status === 'scored' && score.found !== undefined) attributes[namesOf(scorer.id).found] = score.found
  return attributes
}

/** The ids of the scorers whose result is among the attributes of a span: each has a score or a status. */
export function scorersIn(attributes: Readonly<Record<string, unknown>>): ReadonlySet<string> {
  const ids = new Set<string>()
  for (const name in attributes) {
    const id = name.startsWith('spanscore.') ? RESULT.exec(name)?.[1] : undefined
    if (id !== undefined) ids.add(id)
  }
  return ids
}

const RESULT = /^spanscore\.([a-z][a-z0-9_]*)\.(?:score|status)$/

/** Removes all attributes of a scorer. */
export function removeScore(attributes: Record<string, unknown>, scorerId: string): void {
  for (const name of Object.values(namesOf(scorerId))) {
    if (name in attributes) delete attributes[name]
  }
}

/** More scorers than a process reasonably has. */
const MAX_KNOWN = 1000

const known = new BoundedMap<string, Names>(MAX_KNOWN)

/** The attribute names of a scorer. They are built once, because lookups by a newly built string are slower. */
function namesOf(scorerId: string): Names {
  const names = known.get(scorerId)
  if (names !== undefined) return names
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- each part has its name
  const made = Object.fromEntries(
    Object.keys(SCORE_ATTRIBUTES).map((part) => [part, `spanscore.${scorerId}.${part}`]),
  ) as Names
  known.set(scorerId, made)
  return made
}
