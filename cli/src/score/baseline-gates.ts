import type { ResolvedScorer } from '../../../src/engine/config/options.ts'
import { plural } from '../../../server/page/src/format.ts'
import { UsageError } from '../usage-error.ts'
import type { BaselineComparison } from './baseline.ts'
import { missingScores, nothingScored } from './gates.ts'
import type { ScoreGateResult } from './gates.ts'
import { numberText } from './number-text.ts'
import type { Tallies } from './tally.ts'

/** What must not be worse than in the baseline. */
export interface BaselineGate {
  /** `new-failures`: no more questions than `allow` may newly fail; `drop`: the mean may not be surely worse. */
  readonly fails: 'new-failures' | 'drop'
  /** Absent for every scorer that the baseline has. */
  readonly scorerId?: string
}

/**
 * Reads `new-failures` or `drop`, for one scorer as `drop=prompt_alignment`.
 *
 * @throws UsageError if it has another form, or names no configured scorer.
 */
export function parseBaselineGate(text: string, scorers: readonly ResolvedScorer[]): BaselineGate {
  const [, what, scorerId] = /^(new-failures|drop)(?:=(.+))?$/.exec(text) ?? []
  if (what !== 'new-failures' && what !== 'drop') {
    throw new UsageError(
      `--fail-on: expected new-failures or drop, for one scorer as drop=${scorers[0]?.id}, got ${text}`,
    )
  }
  if (scorerId === undefined) return { fails: what }
  if (scorers.every(({ id }) => id !== scorerId)) {
    const ids = scorers.map(({ id }) => id).join(', ')
    throw new UsageError(`--fail-on: expected one of the configured scorers (${ids}), got ${scorerId}`)
  }
  return { fails: what, scorerId }
}

/**
 * Checks a gate for its scorer, or for each configured scorer that the baseline has. A gate also fails if nothing can be compared, if scores
 * are missing because of errors, and if the scorer itself has changed.
 */
export function checkBaselineGate(
  { fails, scorerId }: BaselineGate,
  allow: number,
  comparisons: readonly BaselineComparison[],
  tallies: Tallies,
  scorers: readonly ResolvedScorer[],
): readonly ScoreGateResult[] {
  const compared = scorers.flatMap(({ id, about }) => {
    const comparison = comparisons.find(({ scorer }) => scorer === id)
    if (scorerId !== undefined ? id !== scorerId : !isInBaseline(comparison)) return []
    return [{ id, comparison, better: about.better }]
  })
  if (compared.length === 0) {
    const message = 'no configured scorer is in the baseline'
    return [{ scorerId: 'all scorers', fails, passed: false, message }]
  }
  return compared.map(({ id, comparison, better }) => {
    const tally = tallies.ofScorer(id)
    const missing = tally === undefined ? undefined : missingScores(tally)
    const [passed, message] =
      missing === undefined
        ? verdict(fails, allow, comparison, better)
        : [false, `${missing}, so the comparison does not cover all runs`]
    const why = tally?.scored === 0 && missing === undefined ? `: ${nothingScored(tally)}` : ''
    const { unguarded = [] } = comparison ?? {}
    const open = unguarded.length > 0 && missing === undefined
    const lack = open
      ? `; no score in the baseline guards ${plural(unguarded.length, 'question')}: ${listed(unguarded)}`
      : ''
    return { scorerId: id, fails, passed, ...(open && { unchecked: true }), message: `${id}: ${message}${why}${lack}` }
  })
}

/** The first of some questions. */
function listed(questions: readonly string[]): string {
  const more = questions.length > MAX_LISTED ? `, and ${questions.length - MAX_LISTED} more` : ''
  return `${questions.slice(0, MAX_LISTED).join(', ')}${more}`
}

/** How many questions are named. */
const MAX_LISTED = 3

const isInBaseline = (comparison: BaselineComparison | undefined): boolean =>
  comparison !== undefined && comparison.questions + comparison.unscored + comparison.onlyBefore > 0

function verdict(
  fails: BaselineGate['fails'],
  allow: number,
  comparison: BaselineComparison | undefined,
  better: 'higher' | 'lower',
): readonly [passed: boolean, message: string] {
  const { difference, newFailures = 0, questions = 0, onlyBefore = 0, unscored = 0, unguarded = [] } = comparison ?? {}
  if (comparison === undefined || questions === 0) return [false, 'no run has a score both now and in the baseline']
  if (comparison.scorerChanged) return [false, 'the scorer is not the one of the baseline: write a new baseline']
  if (fails === 'new-failures') {
    const count = newFailures === 0 ? 'none is' : newFailures === 1 ? '1 is' : `${newFailures} are`
    const allowed = allow === 0 ? '' : ` (--allow ${allow})`
    const all = questions === 1 ? '1 question' : `${questions} questions`
    // What cannot be compared is no new failure, and not to be overlooked.
    const open = [
      ...(onlyBefore === 0
        ? []
        : [`; ${onlyBefore} more of the baseline ${onlyBefore === 1 ? 'was' : 'were'} not asked`]),
      ...(unscored === unguarded.length ? [] : [`; ${unscored - unguarded.length} more without two scores`]),
    ].join('')
    return [newFailures <= allow, `of ${all}, ${count} newly failing${allowed}${open}`]
  }
  if (difference === undefined) return [false, 'no run has a score both now and in the baseline']
  const [low, high] = difference.interval95
  const passed = better === 'higher' ? high >= 0 : low <= 0
  const interval = `${numberText(low)} to ${numberText(high)}`
  const change = `the mean of ${plural(difference.pairs, 'pair')} of runs changed by ${numberText(difference.mean)} (95 %: ${interval})`
  return [passed, `${change}, which is ${passed ? 'not surely' : 'surely'} worse`]
}
