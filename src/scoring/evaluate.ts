import type { AgentRun } from '../model/agent-run.ts'
import type { Evaluation, Failed, Score, Scored, Skipped } from '../model/score.ts'
import type { GivenInput, JudgeCall, Scorer, ScoringContext, Verdict } from './scorer.ts'
import { show } from './format-value.ts'
import { isFailureCode, isSkipReason, readJudgeReport, readText } from './read-verdict.ts'
import { isThenable } from './thenable.ts'

/** How one evaluation is done; what is left out is the scorer's own, or not known. */
export interface EvaluateOptions {
  /** Replaces the scorer's id where the application has two of one kind. */
  readonly id?: string
  /** Replaces the scorer's pass mark, in the scorer's own units. */
  readonly passAt?: number
  /** What the evaluation says of its scorer, where that is at hand. @default made of the scorer, `id` and `passAt` */
  readonly about?: Evaluation['scorer']
  /** Probability with which this run was chosen for this scorer, 0..1. */
  readonly probability?: number
  /**
   * Ends an asynchronous scorer early: its score is then `failed: scorer-timeout` (`judge-timeout` for judges), or the
   * `Skipped` or `Failed` with which it was aborted.
   *
   * @default one that aborts after `timeoutMs`
   */
  readonly signal?: AbortSignal
  /** Milliseconds that all tries of this score may take together. @default 20000 */
  readonly timeoutMs?: number
  /** Input and output as they were given to `.run()`. */
  readonly given?: GivenInput
  /** Called after each judge call, for audits. */
  readonly onJudgeCall?: (call: JudgeCall) => void
  /** A monotonic clock, in milliseconds. @default performance.now */
  readonly now?: () => number
}

/** An evaluation together with what led to it: the scorer's own verdict, or what it threw. */
export interface Outcome<Preprocessed = unknown, Analyzed = unknown> {
  readonly evaluation: Evaluation
  readonly verdict: Verdict<Preprocessed, Analyzed>
  readonly thrown?: unknown
}

/**
 * Lets a scorer score a run, and never throws: what the scorer throws is `failed: scorer-threw`, what is no number within its
 * range is `failed: invalid-score`. Synchronous when the scorer's `assess` is.
 */
export function evaluate(
  scorer: Scorer,
  run: AgentRun,
  options: EvaluateOptions = {},
): Evaluation | Promise<Evaluation> {
  const outcome = evaluateInFull(scorer, run, options)
  return outcome instanceof Promise ? outcome.then(({ evaluation }) => evaluation) : outcome.evaluation
}

/** As `evaluate`, with the scorer's own verdict beside the evaluation. */
export function evaluateInFull<Preprocessed, Analyzed>(
  scorer: Scorer<Preprocessed, Analyzed>,
  run: AgentRun,
  options: EvaluateOptions = {},
): Outcome<Preprocessed, Analyzed> | Promise<Outcome<Preprocessed, Analyzed>> {
  const now = options.now ?? monotonicNow
  const startMs = now()
  const context = new Context(options)
  const finish = (verdict: Verdict<Preprocessed, Analyzed>, ...thrown: [unknown?]) => ({
    evaluation: toEvaluation(scorer, run, options, verdict, now() - startMs),
    verdict,
    ...(thrown.length > 0 && { thrown: thrown[0] }),
  })
  // A verdict is the scorer's own object: reading it may throw as well.
  const read = (verdict: Verdict<Preprocessed, Analyzed>): Outcome<Preprocessed, Analyzed> => {
    try {
      return finish(verdict)
    } catch (error) {
      return finish(verdictOfThrown(scorer.id, error), error)
    }
  }
  try {
    const verdict = scorer.assess(run, context)
    if (!isThenable(verdict)) return read(verdict)
    return new Promise((resolve) => {
      const { signal } = context
      const onAbort = (): void => {
        // One turn of the loop for a scorer that heeds the signal: its own words know more than ours, tokens spent among them.
        setImmediate(() => resolve(finish(verdictOfAbort(scorer, signal.reason, context.timeoutMs))))
      }
      const settle = (outcome: Outcome<Preprocessed, Analyzed>): void => {
        signal.removeEventListener('abort', onAbort)
        resolve(outcome)
      }
      if (signal.aborted) onAbort()
      else signal.addEventListener('abort', onAbort, { once: true })
      verdict.then(
        (value) => settle(read(value)),
        (error: unknown) =>
          settle(
            signal.aborted
              ? finish(verdictOfAbort(scorer, signal.reason, context.timeoutMs), error)
              : finish(verdictOfThrown(scorer.id, error), error),
          ),
      )
    })
  } catch (error) {
    return finish(verdictOfThrown(scorer.id, error), error)
  }
}

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] }

/** Makes the signal only when something asks for it: synchronous scorers never do. */
class Context implements ScoringContext {
  readonly timeoutMs: number
  readonly given?: GivenInput
  readonly onJudgeCall?: (call: JudgeCall) => void
  #signal: AbortSignal | undefined

  constructor(options: EvaluateOptions) {
    this.timeoutMs = options.timeoutMs ?? 20_000
    this.#signal = options.signal
    if (options.given !== undefined) this.given = options.given
    if (options.onJudgeCall !== undefined) this.onJudgeCall = options.onJudgeCall
  }

  get signal(): AbortSignal {
    this.#signal ??= AbortSignal.timeout(this.timeoutMs)
    return this.#signal
  }
}

function toEvaluation(
  scorer: Scorer,
  run: AgentRun,
  options: EvaluateOptions,
  verdict: Verdict,
  durationMs: number,
): Evaluation {
  const { version, kind, range, better } = scorer
  const passAt = options.passAt ?? scorer.passAt
  const evaluation: Mutable<Evaluation> = {
    scorer: options.about ?? { id: options.id ?? scorer.id, version, kind, range, better, passAt },
    runId: run.id,
    revision: run.revision,
    complete: run.complete,
    durationMs,
    score: toScore(scorer, passAt, verdict),
  }
  if (options.probability !== undefined) evaluation.probability = options.probability
  const judge = readJudgeReport(verdict?.judge, scorer.judge?.model)
  if (judge !== undefined) evaluation.judge = judge
  return evaluation
}

function toScore(scorer: Scorer, passAt: number, verdict: Verdict): Score {
  switch (verdict?.status) {
    case 'scored': {
      const value = withinRange(verdict.value, scorer.range)
      if (value === undefined) return invalidScore(scorer.id, scorer.range, verdict.value)
      const passed = scorer.better === 'higher' ? value >= passAt : value <= passAt
      const scored: Mutable<Scored> = { status: 'scored', value, label: passed ? 'pass' : 'fail' }
      const [band, explanation] = [readText(verdict.band), readText(verdict.explanation)]
      if (band !== undefined) scored.band = band
      if (explanation !== undefined) scored.explanation = explanation
      if (verdict.details !== undefined) scored.details = verdict.details
      return scored
    }
    case 'skipped':
      return isSkipReason(verdict.reason)
        ? { status: 'skipped', reason: verdict.reason, message: readText(verdict.message) ?? '' }
        : unknownReason(scorer.id, 'SkipReason', verdict.reason)
    case 'failed':
      return isFailureCode(verdict.code)
        ? { status: 'failed', code: verdict.code, message: readText(verdict.message) ?? '' }
        : unknownReason(scorer.id, 'FailureCode', verdict.code)
    default:
      return invalidScore(scorer.id, scorer.range, verdict)
  }
}

/**
 * The value where it lies in the range, else `undefined`. What sums of fractions leave over (1.0000000000000002) is the bound
 * itself; -0 is 0.
 */
function withinRange(value: unknown, [low, high]: readonly [number, number]): number | undefined {
  if (typeof value !== 'number') return undefined
  const tolerance = (high - low) * 1e-9
  return value >= low - tolerance && value <= high + tolerance ? Math.min(high, Math.max(low, value)) + 0 : undefined
}

/** The score of a scorer that gave something else than a number within its range. */
export function invalidScore(id: string, [low, high]: readonly [number, number], got: unknown): Failed {
  return {
    status: 'failed',
    code: 'invalid-score',
    message: `${id}: expected a number from ${low} to ${high}, got ${show(got)}. Return such a number, or set the scorer's range.`,
  }
}

/** The score of a scorer that gives no score for a reason that there is not. */
function unknownReason(id: string, type: string, got: unknown): Failed {
  const message = `${id}: expected a ${type} such as 'not-applicable' or 'scorer-threw', got ${show(got)}.`
  return { status: 'failed', code: 'invalid-score', message }
}

function verdictOfThrown(id: string, error: unknown): Failed {
  return {
    status: 'failed',
    code: 'scorer-threw',
    message: `${id} threw ${show(error, 500)}. Call its .run() with the same run to see where.`,
  }
}

function verdictOfAbort(scorer: Scorer, reason: unknown, timeoutMs: number): Skipped | Failed {
  if (isVerdict(reason)) return reason
  return {
    status: 'failed',
    code: scorer.kind === 'judge' ? 'judge-timeout' : 'scorer-timeout',
    message: `${scorer.id} gave no score within ${timeoutMs} ms. Raise timeoutMs, or make the scorer quicker.`,
  }
}

function isVerdict(reason: unknown): reason is Skipped | Failed {
  return (
    typeof reason === 'object' &&
    reason !== null &&
    'status' in reason &&
    (reason.status === 'skipped' || reason.status === 'failed')
  )
}

function monotonicNow(): number {
  return performance.now()
}
