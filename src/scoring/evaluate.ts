import type { AgentRun } from '../model/agent-run.ts'
import { explain, contentFree } from '../model/explanation.ts'
import type { Evaluation, Failed, Skipped } from '../model/score.ts'
import { scoreOfCalls, toCallScores } from './call-scores.ts'
import type { ExpectedAnswer, GivenInput, JudgeCall, Scorer, ScoringContext, Verdict } from './scorer.ts'
import { adopted, isThenable } from './thenable.ts'
import { versionFor } from './scorer-version.ts'
import { failed } from './unscored.ts'
import { isUnscored, toJudgeReport, toScore, verdictOfThrown } from './verdict.ts'

/** Options of one evaluation. If `id` or `passAt` is absent, the scorer's own applies. */
export interface EvaluateOptions {
  /** Replaces the scorer's id if the application has two of one kind. */
  readonly id?: string
  /** Replaces the scorer's pass mark, in the scorer's own units. */
  readonly passAt?: number
  /** `Evaluation.scorer`, if the caller has already built it. @default built from the scorer, `id` and `passAt` */
  readonly about?: Evaluation['scorer']
  /** Probability with which this run was chosen for this scorer, 0..1. */
  readonly probability?: number
  /** Probability with which the tracer kept the run, if it is known and trusted. */
  readonly upstreamProbability?: number
  /**
   * Ends an asynchronous scorer early. The score is then the `Skipped` or `Failed` that the signal was aborted with, else
   * `failed: scorer-timeout` (`judge-timeout` for judges).
   *
   * @default one that aborts after `timeoutMs`
   */
  readonly signal?: AbortSignal
  /** Milliseconds that all tries of this score may take together. @default 20000 */
  readonly timeoutMs?: number
  /** Names of tools that hand the user over to a person. @default none */
  readonly handOver?: readonly string[]
  /** Input and output as they were given to `.run()`. */
  readonly given?: GivenInput
  /** What is expected of the run. */
  readonly expected?: ExpectedAnswer
  /** Called after each judge call, for audits. */
  readonly onJudgeCall?: (call: JudgeCall) => void
  /** A monotonic clock, in milliseconds. @default performance.now */
  readonly now?: () => number
}

/** An evaluation, with the verdict that the scorer returned or the error that it threw. */
export interface EvaluationOutcome<Preprocessed = unknown, Analyzed = unknown> {
  readonly evaluation: Evaluation
  readonly verdict: Verdict<Preprocessed, Analyzed>
  readonly thrown?: unknown
}

/**
 * Scores a run. It never throws: an error of the scorer becomes `failed: scorer-threw`, and anything but a number within its range
 * becomes `failed: invalid-score`. It is synchronous if the scorer's `assess` is.
 */
export function evaluate(
  scorer: Scorer,
  run: AgentRun,
  options: EvaluateOptions = {},
): Evaluation | Promise<Evaluation> {
  const outcome = evaluateInFull(scorer, run, options)
  return outcome instanceof Promise ? outcome.then(({ evaluation }) => evaluation) : outcome.evaluation
}

/** Like `evaluate`, but also returns the scorer's own verdict. */
export function evaluateInFull<Preprocessed, Analyzed>(
  scorer: Scorer<Preprocessed, Analyzed>,
  run: AgentRun,
  options: EvaluateOptions = {},
): EvaluationOutcome<Preprocessed, Analyzed> | Promise<EvaluationOutcome<Preprocessed, Analyzed>> {
  const now = options.now ?? monotonicNow
  const startMs = now()
  const context = new Context(options)
  const finish = (verdict: Verdict<Preprocessed, Analyzed>, ...thrown: [unknown?]) => ({
    evaluation: toEvaluation(scorer, run, options, verdict, now() - startMs),
    verdict,
    ...(thrown.length > 0 && { thrown: thrown[0] }),
  })
  try {
    const verdict = scorer.assess(run, context)
    if (!isThenable(verdict)) return finish(verdict)
    return new Promise((resolve) => {
      const { signal } = context
      const onAbort = (): void => {
        // A scorer that listens to the signal gets one turn of the event loop to return its own result, with the tokens it used.
        setImmediate(() => resolve(finish(verdictOfAbort(scorer, signal.reason, context.timeoutMs))))
      }
      const settle = (outcome: EvaluationOutcome<Preprocessed, Analyzed>): void => {
        signal.removeEventListener('abort', onAbort)
        resolve(outcome)
      }
      if (signal.aborted) onAbort()
      else signal.addEventListener('abort', onAbort, { once: true })
      adopted(verdict).then(
        (value) => settle(finish(value)),
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

/** Creates the abort signal only when a scorer asks for it. Synchronous scorers never do. */
class Context implements ScoringContext {
  readonly timeoutMs: number
  readonly handOver?: readonly string[]
  readonly given?: GivenInput
  readonly expected?: ExpectedAnswer
  readonly onJudgeCall?: (call: JudgeCall) => void
  #signal: AbortSignal | undefined

  constructor(options: EvaluateOptions) {
    this.timeoutMs = options.timeoutMs ?? 20_000
    this.#signal = options.signal
    if (options.handOver !== undefined) this.handOver = options.handOver
    if (options.given !== undefined) this.given = options.given
    if (options.expected !== undefined) this.expected = options.expected
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
  const { kind, range, better, level } = scorer
  const version = versionFor(scorer, options.handOver)
  const passAt = options.passAt ?? scorer.passAt
  const calls = toCallScores(scorer, options.passAt, run, verdict)
  const evaluation: Mutable<Evaluation> = {
    scorer: options.about ?? { id: options.id ?? scorer.id, version, kind, range, better, passAt, level },
    runId: run.id,
    revision: run.revision,
    complete: isComplete(run),
    durationMs,
    score:
      calls === undefined
        ? toScore(scorer, options.passAt, verdict)
        : scoreOfCalls(scorer, run, calls, verdict.analyzeStepResult),
  }
  if (calls !== undefined) evaluation.calls = calls
  if (options.probability !== undefined) evaluation.probability = options.probability
  if (options.upstreamProbability !== undefined) evaluation.upstreamProbability = options.upstreamProbability
  const judge = toJudgeReport(scorer, verdict)
  if (judge !== undefined) evaluation.judge = judge
  return evaluation
}

/**
 * True if the run is complete, as far as we know. That takes most of its facts, which are read here at the latest: if one of them cannot be
 * read, the score is kept, and its run counts as incomplete.
 */
export function isComplete(run: AgentRun): boolean {
  try {
    return run.complete
  } catch {
    return false
  }
}

function verdictOfAbort(scorer: Scorer, reason: unknown, timeoutMs: number): Skipped | Failed {
  if (isUnscored(reason)) return reason
  const code = scorer.kind === 'judge' ? 'judge-timeout' : 'scorer-timeout'
  return failed(
    code,
    explain`${contentFree(scorer.id)} gave no score within ${timeoutMs} ms. Raise timeoutMs, or make the scorer quicker.`,
  )
}

function monotonicNow(): number {
  return performance.now()
}
