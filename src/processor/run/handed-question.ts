import type { AgentRun } from '../../model/agent-run.ts'
import type { Evaluation } from '../../model/score.ts'
import type { Budget } from '../../sampling/budget.ts'
import type { ResolvedOptions, ResolvedScorer } from '../config/options.ts'
import type { Scheduler } from '../scheduler.ts'
import { admitJudge } from './admission.ts'
import type { Admitted } from './admission.ts'
import type { Reporter } from './reporter.ts'
import { ScoringTask } from './scored-run.ts'
import type { ScoredRun } from './scored-run.ts'
import { ScoringJob } from './scoring-job.ts'

/** A judge's answer. */
export interface HandedAnswer {
  /** The score, or the reason why there is none. */
  readonly evaluation: Evaluation
  /** Whether the provider is overloaded or known to be down. Nothing was paid, and the judge may be asked later. */
  readonly isLeft: boolean
}

/** The parts of a question. */
export interface HandedQuestionParts {
  readonly scored: ScoredRun
  readonly scorer: ResolvedScorer
  readonly run: AgentRun
  /** The rate at which the run was kept. */
  readonly rate: number
  readonly options: ResolvedOptions
  readonly reporter: Reporter
  readonly scheduler: Pick<Scheduler, 'after' | 'turns'>
}

/** One run and the judge to ask about it. */
export class HandedQuestion {
  readonly #parts: HandedQuestionParts
  #admitted: Admitted | undefined
  #job: ScoringJob | undefined

  constructor(parts: HandedQuestionParts) {
    this.#parts = parts
  }

  /**
   * Reserves the cost of asking. May be called again after an answer with `isLeft`; the run keeps the probability of the first call.
   *
   * @returns the evaluation if the budget refuses; `undefined` if the judge may be asked
   */
  admit(budget: Budget): Evaluation | undefined {
    const { scored, scorer, run, rate } = this.#parts
    const { judge } = scorer.scorer
    if (judge === undefined) throw new Error(`Expected ${scorer.id} to be a judge, got a scorer by code.`)
    const admission = admitJudge({ ...this.#parts, budget }, { scored, scorer }, judge, run, rate)
    if (admission.status === 'rejected') {
      return scored.unaskedEvaluation(scorer, admission.score, run, admission.probability)
    }
    this.#admitted = admission
    return undefined
  }

  /** Asks once per admission. Never rejects. */
  ask(): Promise<HandedAnswer> {
    const { scored, scorer, run, options, reporter, scheduler } = this.#parts
    const admitted = this.#admitted
    if (admitted === undefined) throw new Error('Expected a question that was admitted.')
    const { probability, reservation } = admitted
    const task = ScoringTask.waiting(scored, scorer)
    task.advance('queued')
    task.advance('admitted')
    return new Promise((resolve) => {
      this.#job = new ScoringJob({
        task,
        run,
        probability,
        reservation,
        priority: 0,
        options,
        reporter,
        scheduler,
        onFinished: (_job, evaluation) => resolve({ evaluation, isLeft: isLeft(evaluation) }),
      })
      void this.#job.start()
    })
  }

  /** Another process has taken over the question. Aborts the work, and ignores its answer. */
  abandon(): void {
    this.#job?.abandon()
  }
}

function isLeft({ score, judge }: Evaluation): boolean {
  if (score.status === 'skipped') return score.reason === 'circuit-open' && judge === undefined
  return score.status === 'failed' && score.code === 'judge-quota'
}
