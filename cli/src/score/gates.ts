import type { ResolvedScorer } from '../../../src/engine/config/options.ts'
import { plural } from '../../../server/page/src/format.ts'
import { UsageError } from '../usage-error.ts'
import type { CaseResult } from '../cases/case-book.ts'
import type { ReportedScore } from './reported-evaluation.ts'
import type { ReasonCount, Tallies, Tally } from './tally.ts'
import { numberText } from './number-text.ts'

/** A limit on the mean of one scorer over all agents. */
export interface Gate {
  readonly scorerId: string
  /** In the scorer's own units. */
  readonly bound: number
  /** `under`: the mean must not be below the bound; `over`: not above it, for scorers where lower is better. */
  readonly fails: 'under' | 'over'
}

/** The result of a gate, or of a case. */
export type GateResult = ScoreGateResult | CaseResult

/** Whether it passes, and something that it should check is not checked. */
export function isUnchecked(result: GateResult): boolean {
  return result.passed && 'unchecked' in result
}

/** The result of a gate on scores. */
export interface ScoreGateResult {
  readonly scorerId: string
  /** Absent if the scores were compared with a baseline. */
  readonly bound?: number
  readonly fails: Gate['fails'] | 'new-failures' | 'drop'
  readonly passed: boolean
  /** Present if the baseline lacks scores, so that questions are not guarded. */
  readonly unchecked?: true
  /** One line for people: what was compared, or why that was not possible. */
  readonly message: string
}

/**
 * Reads `id=number`.
 *
 * @throws UsageError if it has another form, names no configured scorer, or the number is outside of the scorer's range.
 */
export function parseGate(text: string, fails: Gate['fails'], scorers: readonly ResolvedScorer[]): Gate {
  const option = `--fail-${fails}`
  const [, scorerId = '', number = ''] = /^([^=]+)=(.+)$/.exec(text) ?? []
  const bound = Number(number)
  if (number.trim() === '' || !Number.isFinite(bound)) {
    throw new UsageError(`${option}: expected a scorer and a number, such as ${scorers[0]?.id}=0.8, got ${text}`)
  }
  const found = scorers.find(({ id }) => id === scorerId)
  if (found === undefined) {
    const ids = scorers.map(({ id }) => id).join(', ')
    throw new UsageError(`${option}: expected one of the configured scorers (${ids}), got ${scorerId}`)
  }
  const [low, high] = found.about.range
  if (bound < low || bound > high) {
    throw new UsageError(`${option}: expected a number from ${low} to ${high}, the range of ${scorerId}, got ${number}`)
  }
  const wanted = found.about.better === 'higher' ? 'under' : 'over'
  if (wanted !== fails) {
    throw new UsageError(`${option}: for ${scorerId}, ${found.about.better} is better; use --fail-${wanted} ${text}`)
  }
  return { scorerId, bound, fails }
}

/**
 * Compares a scorer's mean, or with `usesInterval` the worse end of its 95 % interval, with a gate. A gate also fails
 * if nothing was scored, if scores are missing because of errors, and if judges were left out.
 */
export function checkGate(gate: Gate, tallies: Tallies, usesInterval: boolean): ScoreGateResult {
  const { scorerId, bound, fails } = gate
  const tally = tallies.ofScorer(scorerId)
  const found = tally?.mean()
  if (tally === undefined || found === undefined) {
    return { ...gate, passed: false, message: `${scorerId}: ${nothingScored(tally)}` }
  }
  const missing = missingScores(tally)
  if (missing !== undefined) {
    return { ...gate, passed: false, message: `${scorerId}: ${missing}, so the mean does not cover all runs` }
  }
  const compared = usesInterval ? found.interval95[fails === 'under' ? 0 : 1] : found.mean
  const passed = fails === 'under' ? compared >= bound : compared <= bound
  const end = fails === 'under' ? 'lower' : 'upper'
  const what = usesInterval ? `the ${end} bound of the mean` : 'the mean'
  const value = `${numberText(compared)}${usesInterval ? ` (mean ${numberText(found.mean)})` : ''}`
  return {
    ...gate,
    passed,
    message: `${scorerId}: ${what} of ${plural(tally.scored, tally.units.slice(0, -1))} is ${value}, which is ${passed ? 'not ' : ''}${fails} ${numberText(bound)}${skippedText(tally)}`,
  }
}

/** Says how many runs the mean leaves out, and why. */
function skippedText({ skipped }: Tally): string {
  const reasons = [...skipped].map(([reason, { count }]) => `${reason} ${count}`)
  return reasons.length === 0 ? '' : `; runs that were skipped do not count (${reasons.join(', ')})`
}

/** Skip reasons of runs that should have had a score. */
const LEFT_OUT: ReadonlySet<string> = new Set(['judge-unavailable', 'refused'])

/** Whether a score is missing because of an error, or because a judge was left out. */
export function isLeftOut(status: ReportedScore['status'], reason = ''): boolean {
  return status === 'failed' || (status === 'skipped' && LEFT_OUT.has(reason))
}

/** Says which scores are missing because of errors, or because judges were left out. */
export function missingScores(tally: Tally): string | undefined {
  const reasonsOf = leftOutOf(tally).map(([reason, { count }]) => `${reason} ${count}`)
  return reasonsOf.length === 0 ? undefined : `scores are missing (${reasonsOf.join(', ')})`
}

/** Says the same of a report that may become a baseline, with the first message. */
export function describeIncomplete(tally: Tally | undefined): string | undefined {
  const [first] = tally === undefined ? [] : leftOutOf(tally)
  if (tally === undefined || first === undefined) return undefined
  return `${tally.scorer.id}: ${missingScores(tally)}, so as a baseline this report does not guard their questions: ${first[1].message}`
}

function leftOutOf({ skipped, failed }: Tally): readonly (readonly [string, ReasonCount])[] {
  return [...[...skipped].filter(([reason]) => LEFT_OUT.has(reason)), ...failed]
}

/** Says that there is no score, and why. */
export function nothingScored(tally: Tally | undefined): string {
  const all = [...(tally?.skipped ?? []), ...(tally?.failed ?? [])].map(([reason, { count }]) => `${reason} ${count}`)
  return `nothing was scored${all.length === 0 ? '' : ` (${all.join(', ')})`}`
}
