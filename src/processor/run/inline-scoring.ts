import type { Evaluation } from '../../model/score.ts'
import { isolated } from '../../scoring/isolation.ts'
import type { ResolvedOptions, ResolvedScorer } from '../config/options.ts'
import type { ScoreWriter } from '../deliver/score-writer.ts'
import type { Admitted } from './admission.ts'
import { askScorer } from './ask-scorer.ts'
import { InlineSpeed, threadCpuMs } from './inline-speed.ts'
import type { Reporter } from './reporter.ts'
import type { ScorableRun } from './scorable-run.ts'
import type { ScoringJobs } from './scoring-jobs.ts'
import { ScoringTask } from './scored-run.ts'
import type { ScoredRun } from './scored-run.ts'

/** A scorer that scores while the span is ending, and its admitted run. */
export interface InlineScore extends Pick<Admitted, 'run' | 'probability'> {
  readonly scorer: ResolvedScorer
}

/** What inline scoring needs. */
export interface InlineScoringParts {
  readonly options: ResolvedOptions
  readonly writer: Pick<ScoreWriter, 'write'>
  readonly jobs: Pick<ScoringJobs, 'adopt'>
  readonly reporter: Reporter
  /** Maximum milliseconds for one scorer before it is deferred. @default 5 */
  readonly maxInlineMs?: number | undefined
}

/** Runs synchronous, quick code scorers while the agent's span is ending. */
export class InlineScoring {
  readonly #parts: InlineScoringParts
  /** Scorers that were too slow, or asynchronous. */
  readonly #deferred = new Set<string>()
  /** Scorers that returned a promise while a span was ending, and whether the first promise has settled. */
  readonly #loading = new Map<string, 'loading' | 'loaded'>()
  readonly #speed: InlineSpeed

  constructor(parts: InlineScoringParts) {
    this.#parts = parts
    this.#speed = new InlineSpeed(
      parts.options.scorers.map(({ id }) => id),
      threadCpuMs,
      parts.maxInlineMs,
    )
  }

  /** Whether a scorer scores this run while its span is ending. */
  isFor({ scorer, id }: ResolvedScorer, { agentless }: ScorableRun): boolean {
    return scorer.inline && scorer.kind === 'code' && !agentless && !this.#deferred.has(id)
  }

  /**
   * Asks scorers one after the other, then writes their scores. All of it is isolated together, because isolation costs more than a scorer.
   */
  score(scored: ScoredRun, scores: readonly InlineScore[]): void {
    isolated(() => this.#scoreAll(scored, scores))
  }

  #scoreAll(scored: ScoredRun, scores: readonly InlineScore[]): void {
    const { jobs, writer } = this.#parts
    const evaluations = scores.map((score) => this.#evaluateTimed(scored, score))
    for (let index = 0; index < scores.length; index++) {
      const [score, evaluation] = [scores[index], evaluations[index]]
      if (score === undefined || evaluation === undefined) continue
      const { scorer, run } = score
      if (evaluation instanceof Promise) {
        this.#noteLoading(scorer.id, evaluation)
        jobs.adopt(ScoringTask.scoring(scored, scorer), score, evaluation)
        continue
      }
      writer.write(scored, evaluation, run, true)
      if (scored.scorable.hasOpenSpans) ScoringTask.provisional(scored, scorer, run, evaluation)
    }
  }

  /** Asks a scorer again, after its run has settled. */
  scoreAgain(task: ScoringTask): void {
    const { scored, scorer, evaluation } = task
    const { jobs, reporter, writer } = this.#parts
    const run = scored.read(reporter)
    if (run === undefined || evaluation === undefined || !task.isOutdated(run)) {
      task.advance('done')
      return
    }
    const score = { scorer, run, probability: evaluation.probability ?? 1 }
    const again = isolated(() => this.#evaluate(scored, score))
    if (again instanceof Promise) {
      if (task.advance('scoring')) jobs.adopt(task, score, again)
      return
    }
    if (task.isNews(again)) writer.write(scored, again, run, false)
    task.advance('done')
  }

  #evaluateTimed(scored: ScoredRun, score: InlineScore): Evaluation | Promise<Evaluation> {
    const { id } = score.scorer
    const startCpuMs = this.#speed.start(id)
    const evaluation = this.#evaluate(scored, score)
    if (!(evaluation instanceof Promise) && this.#speed.isTooSlow(id, evaluation.durationMs, startCpuMs)) {
      this.#defer(id, `took ${Math.round(evaluation.durationMs)} ms`)
    }
    return evaluation
  }

  #evaluate(scored: ScoredRun, { scorer, run, probability }: InlineScore): Evaluation | Promise<Evaluation> {
    const { options, reporter } = this.#parts
    return askScorer(scored, scorer, run, { options, reporter, probability })
  }

  /**
   * A synchronous scorer may have to load something at first use. One that returns a promise again after that is not synchronous, and is
   * deferred from then on.
   */
  #noteLoading(id: string, evaluation: Promise<Evaluation>): void {
    const state = this.#loading.get(id)
    if (state === 'loaded') this.#defer(id, 'returned a promise')
    if (state !== undefined) return
    this.#loading.set(id, 'loading')
    void evaluation.then(() => this.#loading.set(id, 'loaded'))
  }

  #defer(id: string, why: string): void {
    this.#deferred.add(id)
    this.#parts.reporter.warnOnce(
      `defer:${id}`,
      `Scorer ${id} ${why} while a span was ending; it runs after the span's end from now on.`,
    )
  }
}
