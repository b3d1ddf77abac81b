import { contentFree } from '../model/explanation.ts'
import type { AgentRun } from '../model/agent-run.ts'
import type { Failed, Skipped } from '../model/score.ts'
import { isDefaultBudget } from '../sampling/budget.ts'
import type { Budget, Cost } from '../sampling/budget.ts'
import { MIN_PROBABILITY } from '../sampling/weight.ts'
import { formatValue } from '../scoring/format-value.ts'
import { readEstimate } from '../scoring/read-verdict.ts'
import { textOf } from '../spans/json.ts'
import { runForeignNow } from '../scoring/run-foreign.ts'
import type { ScorerJudge } from '../scoring/scorer.ts'
import { skipped } from '../scoring/unscored.ts'
import type { Need } from '../scoring/scorer.ts'
import type { ResolvedOptions, ResolvedScorer } from './config/options.ts'
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
import type { AdmittedRun, RunScores } from './run-scores.ts'
import type { ScorableRun } from './scorable-run.ts'
import { NO_COST } from './scorer-call.ts'

/** Code scorers are not asked about more content than this: each works in one turn of the application's event loop. */
const MAX_READ_BYTES = 4 * 1024 * 1024

/** What takes longer to read if a run has more content. Names, counts and states of the largest runs are read quickly. */
const CONTENT: ReadonlySet<Need> = new Set([
  'input',
  'output',
  'systemInstructions',
  'toolArguments',
  'toolResults',
  'documents',
])

/** Whether a scorer scores a run. */
export type Admission = Admitted | Rejected | Deferred

/** The scorer will be asked. */
export interface Admitted extends AdmittedRun {
  readonly status: 'admitted'
  /** The scorer's rate for this run. */
  readonly rate: number
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
  readonly scores: RunScores
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
}

/** Whether a run is small enough to be put together while its span is ending. */
export function isSmall({ run }: RunScores, { maxSyncBytes }: Pick<ResolvedOptions, 'maxSyncBytes'>): boolean {
  return run.readBytes <= maxSyncBytes
}

/** Whether a run has so little content that all of it may be read in one turn of the event loop, in later turns if it is not small. */
export function isReadable({ readBytes }: ScorableRun): boolean {
  return readBytes <= MAX_READ_BYTES
}

/** Whether the content of a run must be read in steps before a scorer is asked. */
export function isReadInSteps(scores: RunScores, scorer: ResolvedScorer, options: ResolvedOptions): boolean {
  return !isSmall(scores, options) && (isReadable(scores.run) || readsContent(scorer))
}

/** Judges are shown as much as fits into their prompts. */
function isTooLarge({ run }: RunScores, scorer: ResolvedScorer): boolean {
  return scorer.scorer.kind === 'code' && !isReadable(run) && readsContent(scorer)
}

function readsContent({ scorer: { needs } }: ResolvedScorer): boolean {
  return needs.some((need) => CONTENT.has(need))
}

/**
 * Decides whether a scorer scores a run. Every decision before asking a scorer is made here. Cheap checks come first; the budget comes
 * last, because a reservation must be spent or released.
 */
export function admit(parts: AdmissionParts, request: AdmissionRequest): Admission {
  const { options } = parts
  const { scores, scorer, moment, hasRoom = true } = request
  const { target, point } = scores
  const isSettled = moment === 'settled'
  if (!mayChoose(scorer, point)) return rejected(sampledOut(fixedRate(scorer) ?? 0))
  if (isTooLarge(scores, scorer)) return rejected(TOO_LARGE, undefined, rateUnread(scorer))
  if (!hasRoom && !isSmall(scores, options)) return rejected(QUEUE_FULL, undefined, fixedRate(scorer))

  const isRead = isSettled || isSmall(scores, options)
  const run = isRead ? scores.read(parts.reporter) : undefined
  if (isRead && run === undefined) return rejected(NO_RUN, undefined, rateUnread(scorer))
  if (run !== undefined && !isForAgent(scorer, run)) return rejected(filteredBy('agent'), run)
  if (!isSettled && !target.claim(scorer.about)) return rejected(ALREADY_SCORED, run)
  if (scorer.scorer.kind === 'judge' && !scores.isSampled && !options.scoreUnsampled) return rejected(UNSAMPLED, run)
  if (run === undefined || moment === 'ending-deferred') return { status: 'deferred' }

  const choice = chooseRun(scorer, run, point)
  if (choice.status !== 'chosen') return rejected(choice, run)
  const { judge } = scorer.scorer
  const admission =
    judge === undefined
      ? weighed(scores, {
          status: 'admitted',
          run,
          rate: choice.rate,
          probability: choice.rate,
          reservation: undefined,
        })
      : admitJudge(parts, scores, scorer, judge, run, choice.rate)
  if (hasRoom || admission.status !== 'admitted') return admission
  admission.reservation?.settle(NO_COST)
  return rejected(QUEUE_FULL, run, admission.probability)
}

/** Checks that a judge is available and within its budget, and reserves its cost. */
function admitJudge(
  { budget, options, reporter }: AdmissionParts,
  scores: RunScores,
  { id }: ResolvedScorer,
  judge: ScorerJudge,
  run: AgentRun,
  rate: number,
): Admitted | Rejected {
  const unavailable = whyUnavailable(judge, id, reporter)
  if (unavailable !== undefined) return rejected(skipped('judge-unavailable', contentFree(unavailable)), run, rate)
  const service = textOf(run.resource['service.name']) ?? ''
  const factor = scores.budgetFactor(budget, service)
  const decision = budget.admit({
    point: scores.point.value,
    rate,
    factor,
    estimate: estimateOf(judge, id, run, reporter),
    service,
  })
  const probability = rate * factor
  if (decision.admitted) {
    return weighed(scores, { status: 'admitted', run, rate, probability, reservation: decision.reservation })
  }
  if (isDefaultBudget(options.budget)) {
    const cure = 'Set budget: { callsPerMinute, tokensPerHour, usdPerDay }, or lower the sample of judges.'
    reporter.notify('SPANSCORE_BUDGET', `Judges would take more than the default budget. ${decision.message} ${cure}`)
  }
  return rejected(skipped(decision.reason, contentFree(decision.message)), run, probability)
}

/** Rejects a run whose weight would be too high. */
function weighed({ upstream = 1 }: RunScores, admitted: Admitted): Admitted | Rejected {
  // Products of rates have rounding errors.
  if (admitted.probability * upstream >= MIN_PROBABILITY * (1 - 1e-9)) return admitted
  admitted.reservation?.settle(NO_COST)
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
