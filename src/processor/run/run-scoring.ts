import type { ScoreMetrics } from '../../emit/score-metrics.ts'
import type { Budget } from '../../sampling/budget.ts'
import { SamplePoint } from '../../sampling/sample-point.ts'
import { upstreamProbability } from '../../sampling/upstream.ts'
import type { TraceStateLike } from '../../sampling/upstream.ts'
import type { Ledger } from '../../scoring/ledger.ts'
import { runForeignNow } from '../../scoring/run-foreign.ts'
import type { ResolvedOptions, ResolvedScorer } from '../config/options.ts'
import type { ScoreWriter } from '../deliver/score-writer.ts'
import { SpanOutlet } from '../deliver/span-outlet.ts'
import type { OpenSpan } from '../sdk-types.ts'
import { admit, isSmall } from './admission.ts'
import type { Rejected } from './admission.ts'
import { isForNested, mayChoose, rateUnread } from './choose-run.ts'
import { InlineScoring } from './inline-scoring.ts'
import type { InlineScore } from './inline-scoring.ts'
import { EVICTED } from './rejections.ts'
import type { Reporter } from './reporter.ts'
import type { ScorableRun } from './scorable-run.ts'
import type { ScoringJobs } from './scoring-jobs.ts'
import { ScoredRun, ScoringTask } from './scored-run.ts'

/** What scoring runs needs. */
export interface RunScoringParts {
  readonly options: ResolvedOptions
  readonly budget: Budget
  readonly ledger: Ledger
  readonly metrics: Pick<ScoreMetrics, 'countLeftOut'>
  readonly writer: Pick<ScoreWriter, 'write'>
  readonly jobs: ScoringJobs
  readonly reporter: Reporter
  /** Maximum milliseconds that a scorer may take while a run is ending. @default 5 */
  readonly maxInlineMs?: number | undefined
}

/**
 * Passes every ended run to the scorers that are for it. Some score while the agent's span is ending, the others when the run is settled.
 * Each scorer ends with exactly one score, skip or failure per run.
 */
export class RunScoring {
  readonly #parts: RunScoringParts
  readonly #inline: InlineScoring
  /** Whether any scorer scores nested agents. */
  readonly countsNested: boolean

  constructor(parts: RunScoringParts) {
    this.#parts = parts
    this.#inline = new InlineScoring(parts)
    this.countsNested = parts.options.scorers.some(isForNested)
  }

  /** Whether any scorer could want a run of this trace. */
  isWanted(traceId: string): boolean {
    const point = this.#pointOf(traceId)
    return this.#parts.options.scorers.some((scorer) => mayChoose(scorer, point))
  }

  /**
   * Scores what can be scored while the span is ending. Each run is passed to the scorers once.
   *
   * @param at the live span in `onEnding`, `ended` in `onEnd`, or `gone` if it was handed on
   */
  runEnded(scorable: ScorableRun, at: OpenSpan | 'ended' | 'gone'): ScoredRun | undefined {
    const known = scorable.scoringState
    if (known === LEFT_OUT) return undefined
    if (known instanceof ScoredRun) return known
    if (scorable.nested && !this.countsNested) return undefined
    if (!scorable.wanted) {
      this.#leaveOut(scorable)
      return undefined
    }
    const scored = this.#scoredRun(scorable, at)
    scorable.scoringState = scored
    const inline: InlineScore[] = []
    for (const scorer of this.#parts.options.scorers) {
      if (scorable.nested && !isForNested(scorer)) continue
      this.#parts.ledger.offered(scorer.id)
      this.#offer(scored, scorer, inline)
    }
    if (inline.length > 0) this.#inline.score(scored, inline)
    scored.outlet.endingIsOver()
    return scored
  }

  /**
   * Called when nothing more of the run is expected. Scores again what changed, and queues the scorers that waited. A run that is too
   * large for this moment is scored again once it is read.
   *
   * @param isFinal false if spans of the run are still open; then it is called again once they have ended
   */
  runSettled(scorable: ScorableRun, isFinal: boolean): void {
    // The run is only found now, after its spans were handed on: it has no agent, or was not known to be a run.
    const scored = this.runEnded(scorable, 'gone')
    if (scored === undefined) return
    if (isFinal) scored.settle()
    for (const task of scored.tasks) {
      if (task.state === 'waiting') this.#parts.jobs.add(task)
      else if (task.state === 'provisional' && isFinal && isSmall(scored, this.#parts.options)) this.#check(task)
    }
  }

  /** Called when a settled run was read, in later turns of the event loop if it is large. Queues what is to be scored again. */
  runRead({ scoringState }: ScorableRun): void {
    if (!(scoringState instanceof ScoredRun)) return
    for (const task of scoringState.tasks) {
      if (task.state !== 'provisional') continue
      if (task.isOutdated(scoringState.read(this.#parts.reporter))) this.#parts.jobs.add(task)
      else task.advance('done')
    }
  }

  /** The run was evicted before its agent ended: no scorer is asked, and the ledger counts it for each. */
  runEvicted(scorable: ScorableRun): void {
    const scored = this.#scoredRun(scorable, 'gone')
    for (const scorer of this.#parts.options.scorers) {
      this.#parts.ledger.offered(scorer.id)
      const probability = mayChoose(scorer, scored.point) ? rateUnread(scorer) : undefined
      this.#reject(scored, scorer, { score: EVICTED, run: undefined, probability })
    }
  }

  #offer(scored: ScoredRun, scorer: ResolvedScorer, inline: InlineScore[]): void {
    const moment = this.#inline.isFor(scorer, scored.scorable) ? 'ending' : 'ending-deferred'
    const admission = admit(this.#parts, { scored, scorer, moment })
    if (admission.status === 'admitted') {
      inline.push({ scorer, run: admission.run, probability: admission.probability })
    } else if (admission.status === 'deferred') {
      this.#parts.jobs.expect(ScoringTask.waiting(scored, scorer))
    } else {
      this.#reject(scored, scorer, admission)
    }
  }

  /** A provisional score is requested again if spans that ended since then changed the run. */
  #check(task: ScoringTask): void {
    if (task.isInline) this.#inline.scoreAgain(task)
    else if (!task.isOutdated(task.scored.read(this.#parts.reporter))) task.advance('done')
    else this.#parts.jobs.add(task)
  }

  /** No scorer's fixed rate keeps the trace. This only counts it. */
  #leaveOut(scorable: ScorableRun): void {
    const { ledger, metrics, options } = this.#parts
    scorable.scoringState = LEFT_OUT
    for (const scorer of options.scorers) {
      if (scorable.nested && !isForNested(scorer)) continue
      ledger.leftOut(scorer.id, 'sampled-out')
      if (options.emit.metrics) metrics.countLeftOut(scorer.about)
    }
  }

  #reject(scored: ScoredRun, scorer: ResolvedScorer, { score, run, probability }: Omit<Rejected, 'status'>): void {
    this.#parts.writer.write(scored, scored.unaskedEvaluation(scorer, score, run, probability), run, true)
  }

  #scoredRun(scorable: ScorableRun, at: OpenSpan | 'ended' | 'gone'): ScoredRun {
    const target = scorable.span.spanContext()
    return new ScoredRun({
      scorable,
      target,
      point: this.#pointOf(scorable.traceId),
      outlet: new SpanOutlet(this.#parts.options.next !== undefined, at),
      upstream: this.#upstreamOf(target.traceState),
    })
  }

  #pointOf(traceId: string): SamplePoint {
    return new SamplePoint(traceId, this.#parts.options.sampleSalt)
  }

  /** Above 0, at most 1; `undefined` if the mean describes only the runs that this process saw. */
  #upstreamOf(traceState: TraceStateLike | undefined): number | undefined {
    const { options, reporter } = this.#parts
    const probability = upstreamProbability(options.upstreamProbability, traceState && readable(traceState))
    if (probability === undefined && options.upstreamProbability === 'tracestate') {
      reporter.warnOnce(
        'upstream',
        "Some runs have no ot=th: in their tracestate. They count as if the tracer kept every run, so means are biased. Make every caller's sampler write it, or set upstreamProbability to a number.",
      )
    }
    return probability
  }
}

/** A trace state whose entries are texts, whatever the SDK or a propagator made. */
function readable(traceState: TraceStateLike): TraceStateLike {
  return {
    get: (key) => {
      const entry = runForeignNow((): unknown => traceState.get(key))
      return entry.ok && typeof entry.value === 'string' ? entry.value : undefined
    },
  }
}

/** Replaces the `ScoredRun` of a run that is only counted. */
const LEFT_OUT = {}
