import type { AgentRun } from '../model/agent-run.ts'
import type { Evaluation } from '../model/score.ts'
import { isolated } from '../scoring/isolation.ts'
import type { Admitted } from './admission.ts'
import type { ResolvedOptions, ResolvedScorer } from './config/options.ts'
import type { Reporter } from './reporter.ts'
import type { RunScores } from './run-scores.ts'
import type { ScorableRun } from './scorable-run.ts'
import { ScorerCall } from './scorer-call.ts'
import { Task } from './run-scores.ts'
import type { Tasks } from './tasks.ts'

/** A scorer that scores while the span is ending, and its admitted run. */
export interface InlineScore extends Pick<Admitted, 'run' | 'probability'> {
  readonly scorer: ResolvedScorer
}

/** What inline scoring needs. */
export interface InlineScoringParts {
  readonly options: ResolvedOptions
  readonly reporter: Reporter
  readonly write: (scores: RunScores, evaluation: Evaluation, run: AgentRun, isFirst: boolean) => void
  readonly tasks: Pick<Tasks, 'adopt'>
  /** Maximum milliseconds for one scorer before it is deferred. @default 5 */
  readonly maxInlineMs?: number | undefined
}

/** Milliseconds that a scorer may repeatedly delay `span.end()`. */
const MAX_INLINE_MS = 5

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
    this.#speed = new InlineSpeed(parts.maxInlineMs ?? MAX_INLINE_MS)
  }

  /** Whether a scorer scores this run while its span is ending. */
  isFor({ scorer, id }: ResolvedScorer, { agentless }: ScorableRun): boolean {
    return scorer.inline && scorer.kind === 'code' && !agentless && !this.#deferred.has(id)
  }

  /**
   * Asks scorers one after the other, then writes their scores. All of it is isolated together, because isolation costs more than a scorer.
   */
  score(scores: RunScores, all: readonly InlineScore[]): void {
    isolated(() => {
      const evaluations = all.map((each) => this.#evaluate(scores, each))
      for (const [index, evaluation] of evaluations.entries()) {
        const each = all[index]
        if (each !== undefined) this.#take(scores, each, evaluation)
      }
    })
  }

  #evaluate(scores: RunScores, { scorer, run, probability }: InlineScore): Evaluation | Promise<Evaluation> {
    const { options, reporter } = this.#parts
    const call = new ScorerCall({ scorer, probability, upstream: scores.upstream, options, reporter })
    const evaluation = call.ask(run)
    if (!(evaluation instanceof Promise) && this.#speed.isTooSlow(scorer.id, evaluation.durationMs)) {
      this.#defer(scorer.id, `took ${Math.round(evaluation.durationMs)} ms`)
    }
    return evaluation
  }

  #take(
    scores: RunScores,
    { scorer, run, probability }: InlineScore,
    evaluation: Evaluation | Promise<Evaluation>,
  ): void {
    const { tasks, write } = this.#parts
    if (evaluation instanceof Promise) {
      this.#noteLoading(scorer.id, evaluation)
      tasks.adopt(Task.scoring(scores, scorer), { run, probability, reservation: undefined }, evaluation)
      return
    }
    write(scores, evaluation, run, true)
    if (scores.run.hasOpenSpans) Task.provisional(scores, scorer, run, evaluation)
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

/** Milliseconds above which one call counts like two slow ones. */
const VERY_SLOW_MS = 50

/** Slow calls in a row after which a scorer no longer runs while a span is ending. */
const MAX_SLOW_CALLS = 3

/**
 * Finds scorers that are too slow to run while a span is ending: three slow calls in a row, where one of more than 50 ms counts twice. A
 * single slow call proves nothing: the scorer's code may have been new, or the machine may have been busy.
 */
export class InlineSpeed {
  /** Slow calls in a row, by scorer. Scorers whose last call was quick are missing. */
  readonly #slow = new Map<string, number>()
  readonly #maxMs: number

  /** @param maxMs maximum milliseconds of a quick call */
  constructor(maxMs: number) {
    this.#maxMs = maxMs
  }

  /** Must be called after each call, with its duration. */
  isTooSlow(id: string, tookMs: number): boolean {
    if (tookMs <= this.#maxMs) {
      this.#slow.delete(id)
      return false
    }
    const slow = (this.#slow.get(id) ?? 0) + (tookMs > VERY_SLOW_MS ? 2 : 1)
    this.#slow.set(id, slow)
    return slow >= MAX_SLOW_CALLS
  }
}
