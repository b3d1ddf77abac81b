import { TraceFlags } from '@opentelemetry/api'
import type { SpanContext } from '@opentelemetry/api'
import { HandedRuns } from 'spanscore/engine'
import type { Budget, BudgetHistory, Evaluation, HandedQuestion, ScoringOptions, Skipped } from 'spanscore/engine'

import type { GatheredRecords } from '../send/gathered-scores.ts'
import type { ServiceMeters } from '../send/service-meters.ts'
import type { JudgeJob } from './judge-job.ts'
import { ScoreOutputs } from './score-outputs.ts'

/** Asks judges about runs of other processes, and writes the results. */
export class JudgeScorer {
  readonly #runs: HandedRuns
  readonly #outputs: ScoreOutputs

  /**
   * @param meters the destination of metrics
   * @param queued the number of waiting jobs
   * @throws TypeError `<path>: expected …, got …`, also if a judge cannot be asked
   */
  constructor(options: ScoringOptions, meters: ServiceMeters, queued: () => number) {
    this.#runs = new HandedRuns(options)
    this.#outputs = new ScoreOutputs(this.#runs.options.emit, meters, queued)
  }

  /** The configured judges. */
  get scorers(): readonly Evaluation['scorer'][] {
    return this.#runs.scorers
  }

  /** Maximum number of judges that are asked at the same time. */
  get concurrency(): number {
    return this.#runs.options.concurrency
  }

  /** Maximum milliseconds for one score, including retries. */
  get timeoutMs(): number {
    return this.#runs.options.timeoutMs
  }

  /** A budget for a share of the jobs. */
  createBudget(share: number, now: () => number, history: BudgetHistory | undefined): Budget {
    return this.#runs.createBudget(share, now, history)
  }

  find({ scorer }: JudgeJob): ReturnType<HandedRuns['find']> {
    return this.#runs.find(scorer)
  }

  question(job: JudgeJob): HandedQuestion {
    return this.#runs.question(job, targetOf(job))
  }

  /** The evaluation of a job whose judge is not asked, with the reason. */
  unasked(job: JudgeJob, score: Skipped): Evaluation {
    return this.#runs.unasked(job, targetOf(job), score)
  }

  /** Writes a job's result. @returns the records to deliver */
  write(job: JudgeJob, evaluation: Evaluation): GatheredRecords {
    const { run, resource, revision, isCounted, ids, extra } = job
    this.#runs.settled(evaluation)
    this.#outputs.write(resource, {
      evaluation: { ...evaluation, revision },
      run,
      target: targetOf(job),
      endTimeMs: run.endTimeMs,
      ids,
      counted: isCounted,
      extra,
    })
    return this.#outputs.take()
  }

  /** The outcome of each judge's jobs. */
  ledger(): ReturnType<HandedRuns['ledger']> {
    return this.#runs.ledger()
  }

  async shutdown(): Promise<void> {
    await this.#outputs.shutdown()
  }
}

function targetOf({ run: { traceId, spanId } }: JudgeJob): SpanContext {
  return { traceId, spanId, traceFlags: TraceFlags.SAMPLED, isRemote: true }
}
