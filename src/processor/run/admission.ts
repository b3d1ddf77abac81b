import { contentFree } from '../../model/explanation.ts'
import type { AgentRun } from '../../model/agent-run.ts'
import type { Failed, Skipped } from '../../model/score.ts'
import { isDefaultBudget } from '../../sampling/budget.ts'
import type { Budget, Cost, Reservation } from '../../sampling/budget.ts'
import { MIN_PROBABILITY } from '../../sampling/weight.ts'
import { formatValue } from '../../scoring/format-value.ts'
import { readEstimate } from '../../scoring/read-verdict.ts'
import { runForeignNow } from '../../scoring/run-foreign.ts'
import type { ScorerJudge } from '../../scoring/scorer.ts'
import { skipped } from '../../scoring/unscored.ts'
import type { ResolvedOptions, ResolvedScorer } from '../config/options.ts'
import { chooseRun, isForAgent, mayChoose, rateUnread } from './choose-run.ts'
import {
  ALREADY_SCORED,
  filteredBy,
  NO_RUN,
  QUEUE_FULL,
  sampledOut,
  TOO_HEAVY,
  TOO_LARGE,
  UNSAMPLED,
} from './rejections.ts'
import type { Reporter } from './reporter.ts'
import { carriesScore } from '../../emit/score-attributes.ts'
import type { ScoredRun } from './scored-run.ts'

/**
 * Larger runs are never read: parsing their content alone would block the application's event loop for too long.
 */
const MAX_READ_BYTES = 16 * 1024 * 1024

/** The cost of a judge that was not asked after all. */
const NOTHING: Cost = { calls: 0, tokens: 0, costUsd: 0 }

/** A property of the span object, so that every copy of the package and every processor sees it. */
const CLAIMS: unique symbol = Symbol.for('spanscore.claims')

interface Claimable {
  readonly attributes: Readonly<Record<string, unknown>>
  [CLAIMS]?: unknown
}

/** Whether a scorer scores a run. */
export type Admission = Admitted | Rejected | Deferred

/** The scorer will be asked. */
export interface Admitted {
  readonly status: 'admitted'
  readonly run: AgentRun
  /** The scorer's rate for this run. */
  readonly rate: number
  /** The rate, reduced by the budget: the probability with which the run was chosen. */
  readonly probability: number
  /** The budget reserved for a judge. */
  readonly reservation: Reservation | undefined
}

/** The scorer will not be asked. */
export interface Rejected {
  readonly status: 'rejected'
  readonly score: Skipped | Failed
  /** Absent if the decision was made before the run was read. */
  readonly run: AgentRun | undefined
  /** Set if the run was chosen at this probability and rejected later. */
  readonly probability: number | undefined
}

/** Nothing rules the score out yet. The decision follows when the run is settled. */
export interface Deferred {
  readonly status: 'deferred'
}

/** One admission decision to make. */
export interface AdmissionRequest {
  readonly scored: ScoredRun
  readonly scorer: ResolvedScorer
  /**
   * `ending`: the agent's span is ending, and the scorer would score now. `ending-deferred`: it is ending, and the scorer is asked when the
   * run is settled. `settled`: the run is settled.
   */
  readonly moment: 'ending' | 'ending-deferred' | 'settled'
  /** Whether the queue has room. @default true */
  readonly hasRoom?: boolean
}

/** What admission needs. */
export interface AdmissionParts {
  readonly options: ResolvedOptions
  readonly budget: Budget
  readonly reporter: Reporter
  /** Set if another process asks the judges. Then only their rates decide here. */
  readonly handOver?: unknown
}

/** Whether a run is small enough to be put together while its span is ending. */
export function isSmall({ scorable }: ScoredRun, { maxSyncBytes }: ResolvedOptions): boolean {
  return scorable.effortBytes <= maxSyncBytes
}

/** Whether a run is too large to be read at all. */
export function isTooLarge({ effortBytes }: { readonly effortBytes: number }): boolean {
  return effortBytes > MAX_READ_BYTES
}

/**
 * Decides whether a scorer scores a run. Every decision before asking a scorer is made here. Cheap checks come first; the budget comes
 * last, because a reservation must be spent or released.
 */
export function admit(parts: AdmissionParts, request: AdmissionRequest): Admission {
  const { options } = parts
  const { scored, scorer, moment, hasRoom = true } = request
  const { scorable, point } = scored
  const isSettled = moment === 'settled'
  if (!mayChoose(scorer, point)) return rejected(sampledOut(fixedRate(scorer) ?? 0))
  if (isTooLarge(scorable)) return rejected(TOO_LARGE, undefined, rateUnread(scorer))
  if (!hasRoom && !isSmall(scored, options)) return rejected(QUEUE_FULL, undefined, fixedRate(scorer))

  const isRead = isSettled || isSmall(scored, options)
  const run = isRead ? scored.read(parts.reporter) : undefined
  if (isRead && run === undefined) return rejected(NO_RUN, undefined, rateUnread(scorer))
  if (run !== undefined && !isForAgent(scorer, run)) return rejected(filteredBy('agent'), run)
  if (!isSettled && !claim(scorable.span, scorer.about)) return rejected(ALREADY_SCORED, run)
  if (scorer.scorer.kind === 'judge' && !scored.isSampled && !options.scoreUnsampled) return rejected(UNSAMPLED, run)
  if (run === undefined || moment === 'ending-deferred') return { status: 'deferred' }

  const choice = chooseRun(scorer, run, point)
  if (choice.status !== 'chosen') return rejected(choice, run)
  const { judge } = scorer.scorer
  const admission =
    judge === undefined || parts.handOver !== undefined
      ? weighed(scored, {
          status: 'admitted',
          run,
          rate: choice.rate,
          probability: choice.rate,
          reservation: undefined,
        })
      : admitJudge(parts, request, judge, run, choice.rate)
  if (hasRoom || admission.status !== 'admitted') return admission
  admission.reservation?.settle(NOTHING)
  return rejected(QUEUE_FULL, run, admission.probability)
}

/** Checks that a judge is available and within its budget, and reserves its cost. */
export function admitJudge(
  { budget, options, reporter }: AdmissionParts,
  { scored, scorer: { id } }: Pick<AdmissionRequest, 'scored' | 'scorer'>,
  judge: ScorerJudge,
  run: AgentRun,
  rate: number,
): Admitted | Rejected {
  const unavailable = whyUnavailable(judge, id, reporter)
  if (unavailable !== undefined) return rejected(skipped('judge-unavailable', contentFree(unavailable)), run, rate)
  const factor = scored.budgetFactor(budget)
  const decision = budget.admit({
    point: scored.point.value,
    rate,
    factor,
    estimate: estimateOf(judge, id, run, reporter),
  })
  const probability = rate * factor
  if (decision.admitted) {
    return weighed(scored, { status: 'admitted', run, rate, probability, reservation: decision.reservation })
  }
  if (isDefaultBudget(options.budget)) {
    const cure = 'Set budget: { callsPerMinute, tokensPerHour, usdPerDay }, or lower the sample of judges.'
    reporter.notify('SPANSCORE_BUDGET', `Judges would take more than the default budget. ${decision.message} ${cure}`)
  }
  return rejected(skipped(decision.reason, contentFree(decision.message)), run, probability)
}

/** Rejects a run whose weight would be too high. */
function weighed({ upstream = 1 }: ScoredRun, admitted: Admitted): Admitted | Rejected {
  // Products of rates have rounding errors.
  if (admitted.probability * upstream >= MIN_PROBABILITY * (1 - 1e-9)) return admitted
  admitted.reservation?.settle(NOTHING)
  return rejected(TOO_HEAVY, admitted.run, admitted.probability)
}

function whyUnavailable(judge: ScorerJudge, id: string, reporter: Reporter): string | undefined {
  const answer = runForeignNow((): unknown => judge.unavailable())
  if (!answer.ok) reporter.threw(`${id}: judge.unavailable`, answer.error)
  if (!answer.ok || answer.value === undefined) return undefined
  return typeof answer.value === 'string' ? answer.value : formatValue(answer.value)
}

function estimateOf(judge: ScorerJudge, id: string, run: AgentRun, reporter: Reporter): Cost {
  const estimated = runForeignNow(() => judge.estimate(run))
  if (!estimated.ok) reporter.threw(`${id}: judge.estimate`, estimated.error)
  const given = estimated.ok ? estimated.value : undefined
  return reporter.guard(`${id}: judge.estimate`, () => readEstimate(given)) ?? readEstimate(undefined)
}

function fixedRate({ sample }: ResolvedScorer): number | undefined {
  return typeof sample === 'number' ? sample : undefined
}

function rejected(score: Skipped | Failed, run?: AgentRun, probability?: number): Rejected {
  return { status: 'rejected', score, run, probability }
}

const claims = new WeakMap<ResolvedScorer['about'], string>()

/** The claim of a scorer: one text for all of its runs, because it is kept with the span. */
function claimOf(about: ResolvedScorer['about']): string {
  let known = claims.get(about)
  if (known === undefined) {
    known = `${about.id}@${about.version}`
    claims.set(about, known)
  }
  return known
}

/** Claims a span for a version of a scorer; false if another processor has claimed it, or the span already has that score. */
function claim(
  span: { readonly attributes: Readonly<Record<string, unknown>> },
  about: ResolvedScorer['about'],
): boolean {
  const claimable: Claimable = span
  const known = claimable[CLAIMS]
  const claimed = claimOf(about)
  if (Array.isArray(known)) {
    if (known.includes(claimed)) return false
    known.push(claimed)
  } else {
    // A frozen span stays without a claim.
    Reflect.set(claimable, CLAIMS, [claimed])
  }
  return !carriesScore(claimable.attributes, about)
}
