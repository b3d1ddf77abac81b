import type { AgentRun } from '../../model/agent-run.ts'
import type { Reservation } from '../../sampling/budget.ts'
import { evaluate } from '../../scoring/evaluate.ts'
import { isolated } from '../../scoring/isolation.ts'
import type { DropReason, QueueJob } from '../../scoring/queue.ts'
import type { Evaluation, Score, Skipped } from '../../model/score.ts'
import { contentFree } from '../../model/explanation.ts'
import { describeError, show } from '../../scoring/format-value.ts'
import { failed, skipped } from '../../scoring/unscored.ts'
import type { ResolvedOptions, ResolvedScorer } from '../config/options.ts'
import type { Reporter } from './reporter.ts'
import type { ScoredRun } from './scored-run.ts'

/** One score that is to be asked for; `counted` false where it is a second one. */
export interface Intake {
  readonly scored: ScoredRun
  readonly scorer: ResolvedScorer
  readonly counted: boolean
}

/** What a job is made of. */
export interface ScoringJobParts extends Intake {
  readonly run: AgentRun
  /** With which the run was chosen: its rate, lowered by the budget. */
  readonly probability: number
  readonly reservation: Reservation | undefined
  readonly priority: 0 | 1
  readonly options: ResolvedOptions
  readonly reporter: Reporter
  /** Books the result. Called once. */
  readonly onFinished: (job: ScoringJob, evaluation: Evaluation) => void
}

/** One score that is given after its span has ended. It ends with exactly one result. */
export class ScoringJob implements QueueJob {
  readonly parts: ScoringJobParts
  readonly #controller = new AbortController()
  #hasBegun = false
  #isFinished = false

  constructor(parts: ScoringJobParts) {
    this.parts = parts
  }

  get priority(): 0 | 1 {
    return this.parts.priority
  }

  async start(): Promise<void> {
    // In a turn of its own: a scorer that computes for long delays neither the span's end nor the next scorer's start.
    await new Promise((resolve) => setImmediate(resolve))
    if (this.#hasBegun || this.#isFinished) return
    this.#hasBegun = true
    const timer = setTimeout(() => this.#controller.abort(), this.parts.options.timeoutMs).unref()
    try {
      this.finish(await this.#evaluate())
    } finally {
      clearTimeout(timer)
    }
  }

  /** Does the work in this turn of the event loop, if it has not begun. */
  startNow(): void {
    if (this.#hasBegun || this.#isFinished) return
    this.#hasBegun = true
    const evaluation = this.#evaluate()
    if (evaluation instanceof Promise) void evaluation.then((result) => this.finish(result))
    else this.finish(evaluation)
  }

  dropped(reason: DropReason | 'shutdown'): void {
    const { scored, scorer, run } = this.parts
    this.finish(evaluationOf(scored, scorer, DROPPED[reason], run, this.parts.probability))
  }

  /** Gives the score up, whether it has begun or not. */
  abandon(): void {
    this.dropped('shutdown')
    this.#controller.abort(DROPPED.shutdown)
  }

  /** Takes a result; what comes after the first is ignored. */
  finish(evaluation: Evaluation): void {
    if (this.#isFinished) return
    this.#isFinished = true
    this.#settleBudget(evaluation)
    this.parts.onFinished(this, evaluation)
  }

  #evaluate(): Evaluation | Promise<Evaluation> {
    const { scored, scorer, run, probability, options, reporter } = this.parts
    const { id, passAt } = scorer
    const { onJudgeCall, timeoutMs } = options
    let seen = run
    if (scorer.scorer.kind === 'judge') {
      try {
        seen = scored.redacted(run, options.redact)
      } catch (error) {
        const score = failed('redact-failed', {
          text: `redact threw ${show(error, 300)}; nothing was sent to the judge.`,
          withoutContent: `redact threw ${describeError(error)}; nothing was sent to the judge.`,
        })
        return evaluationOf(scored, scorer, score, run, probability)
      }
    }
    return isolated(() =>
      evaluate(scorer.scorer, seen, {
        id,
        passAt,
        timeoutMs,
        signal: this.#controller.signal,
        probability,
        ...(scored.upstream !== undefined && { upstreamProbability: scored.upstream }),
        ...(onJudgeCall !== undefined && {
          onJudgeCall: (call) => {
            reporter.callBack('onJudgeCall', () => onJudgeCall({ ...call, scorerId: id }))
          },
        }),
      }),
    )
  }

  #settleBudget({ judge, score }: Evaluation): void {
    const { reservation } = this.parts
    if (judge) {
      const tokens = (judge.usage.inputTokens ?? 0) + (judge.usage.outputTokens ?? 0)
      reservation?.settle({
        calls: judge.calls,
        tokens,
        ...(judge.costUsd !== undefined && { costUsd: judge.costUsd }),
      })
    } else if (score.status === 'skipped' || (score.status === 'failed' && score.code === 'redact-failed')) {
      reservation?.settle({ calls: 0, tokens: 0, costUsd: 0 })
    }
    // Else it failed and does not say what it took: the estimate stands.
  }
}

/**
 * An evaluation that no scorer was asked for.
 *
 * @param probability Where the run had been chosen for the scorer.
 */
export function evaluationOf(
  scored: ScoredRun,
  scorer: ResolvedScorer,
  score: Score,
  run: AgentRun | undefined,
  probability?: number,
): Evaluation {
  const { traceId, spanId } = scored.target
  return {
    scorer: scorer.about,
    runId: run?.id ?? `${traceId}:${spanId}`,
    revision: run?.revision ?? 1,
    complete: run?.complete ?? false,
    ...(probability !== undefined && { probability }),
    ...(scored.upstream !== undefined && { upstreamProbability: scored.upstream }),
    durationMs: 0,
    score,
  }
}

/** Why a score that was to be asked for was not. */
export const DROPPED: Readonly<Record<DropReason | 'shutdown', Skipped>> = {
  'queue-full': skipped(
    'queue-full',
    contentFree('More runs are to be scored than the queue holds; lower sample, or raise queueSize or concurrency.'),
  ),
  expired: skipped(
    'expired',
    contentFree('The score waited for longer than anybody looks at its run; lower sample, or raise concurrency.'),
  ),
  shutdown: skipped(
    'shutdown',
    contentFree('The process was shut down before the score was in; await forceFlush() first.'),
  ),
}
