import { TraceFlags } from '@opentelemetry/api'

import type { ScoreMetrics } from '../../emit/score-metrics.ts'
import type { AgentRun } from '../../model/agent-run.ts'
import type { ScorableRun } from './scorable-run.ts'
import { evaluate } from '../../scoring/evaluate.ts'
import { upstreamProbability } from '../../sampling/upstream.ts'
import { isolated } from '../../scoring/isolation.ts'
import type { Ledger } from '../../scoring/ledger.ts'
import type { Evaluation, Score } from '../../model/score.ts'
import { decideByRun, filtered, isForAgent, mayWant, Place, sampledOut, tooHeavy } from './admission.ts'
import { claim } from './score-claims.ts'
import { InlineSpeed, threadCpuMs } from './inline-speed.ts'
import { ALREADY_SCORED, EVICTED, MAX_READ_BYTES, NO_RUN, TOO_LARGE, UNSAMPLED } from './unscored-runs.ts'
import type { ResolvedOptions, ResolvedScorer } from '../config/options.ts'
import type { Reporter } from './reporter.ts'
import type { ScoreWriter } from '../deliver/score-writer.ts'
import { ScoredRun } from './scored-run.ts'
import { evaluationOf } from './scoring-job.ts'
import type { ScoringJobs } from './scoring-jobs.ts'
import type { EndedSpan, OpenSpan } from '../sdk-types.ts'

/** A scorer that scores while the span is ending. */
interface Inline {
  readonly scorer: ResolvedScorer
  readonly run: AgentRun
  readonly rate: number
}

/** What scoring of runs needs. */
export interface RunScoringParts {
  readonly options: ResolvedOptions
  readonly ledger: Ledger
  readonly metrics: Pick<ScoreMetrics, 'countLeftOut'>
  readonly writer: Pick<ScoreWriter, 'write'>
  readonly jobs: ScoringJobs
  readonly reporter: Reporter
  /** A monotonic clock, in milliseconds. */
  readonly now: () => number
}

/**
 * Puts every run that ends before the scorers that are for it: some score at once, while the agent's span is ending, the
 * others when the run is settled. Each offer ends with exactly one score, skip or failure.
 */
export class RunScoring {
  readonly #parts: RunScoringParts
  /** Scorers that were too slow to run while a span is ending. */
  readonly #deferred = new Set<string>()
  /** Scorers that returned a promise while a span was ending, and whether the first of these has settled. */
  readonly #loading = new Map<string, 'loading' | 'loaded'>()
  readonly #speed: InlineSpeed
  /** Whether any scorer looks at agents that another agent started. */
  readonly countsNested: boolean

  constructor(parts: RunScoringParts) {
    this.#parts = parts
    this.#speed = new InlineSpeed(
      parts.options.scorers.map(({ id }) => id),
      threadCpuMs,
    )
    this.countsNested = parts.options.scorers.some(isForNested)
  }

  /** Whether any scorer could want a run of this trace. */
  isWanted(traceId: string): boolean {
    const place = new Place(traceId, this.#parts.options.sampleSalt)
    return this.#parts.options.scorers.some((scorer) => mayWant(scorer, place))
  }

  /**
   * Scores what can be scored while the span is ending. A run that was put before the scorers is not put there again.
   *
   * @param writable The live span where this is its `onEnding`.
   * @param isHandedOn Whether the span has gone on to the processors behind.
   */
  runEnded(
    live: ScorableRun,
    span: Pick<EndedSpan, 'spanContext'>,
    writable: OpenSpan | undefined,
    isHandedOn = false,
  ): ScoredRun | undefined {
    const known = live.note instanceof ScoredRun ? live.note : undefined
    if (known !== undefined || (live.nested && !this.countsNested)) return known
    if (!live.wanted) {
      if (live.note !== LEFT_OUT) this.#leaveOut(live)
      return undefined
    }
    const scored = new ScoredRun(live, span.spanContext(), this.#parts.options.sampleSalt)
    live.note = scored
    scored.upstream = this.#upstreamOf(scored)
    scored.writable = writable
    scored.isHandedOn = isHandedOn
    const inline: Inline[] = []
    for (const scorer of this.#parts.options.scorers) {
      if (live.nested && !isForNested(scorer)) continue
      this.#parts.ledger.offered(scorer.id)
      this.#offer(scored, scorer, inline)
    }
    if (inline.length > 0) this.#scoreInline(scored, inline)
    scored.writable = undefined
    return scored
  }

  /** The run is as complete as it gets: scores again what changed, and puts the scorers that waited in the queue. */
  runSettled(live: ScorableRun, isFinal: boolean): void {
    const scored = live.note instanceof ScoredRun ? live.note : this.#runFound(live)
    if (scored === undefined) return
    if (isFinal) for (const provisional of scored.provisional.splice(0)) this.#scoreAgain(scored, provisional)
    for (const scorer of scored.waiting.splice(0)) {
      this.#parts.jobs.add(scored, scorer)
      if (!isFinal) scored.again.push(scorer)
    }
    if (!isFinal || scored.again.length === 0 || this.#current(live)?.revision !== 2) return
    // Spans came after these were asked: their second scores are written, and not counted again.
    for (const scorer of scored.again.splice(0)) {
      this.#parts.jobs.expect(scored)
      this.#parts.jobs.add(scored, scorer, false)
    }
  }

  /** A run that is told only now, from spans that have gone on: one without an agent, or one that was not known to be a run. */
  #runFound(live: ScorableRun): ScoredRun | undefined {
    if (live.note === LEFT_OUT) return undefined
    return this.runEnded(live, live.span, undefined, true)
  }

  /** The run was given up before its agent ended: nobody scores it, and everybody's books say so. */
  runEvicted(live: ScorableRun): void {
    const scored = new ScoredRun(live, live.span.spanContext(), this.#parts.options.sampleSalt)
    for (const scorer of this.#parts.options.scorers) {
      this.#parts.ledger.offered(scorer.id)
      this.#settle(scored, scorer, EVICTED, undefined)
    }
  }

  /** No scorer's fixed rate keeps the trace: that is counted, and costs nothing else. */
  #leaveOut(live: ScorableRun): void {
    const { ledger, metrics, options } = this.#parts
    live.note = LEFT_OUT
    for (const scorer of options.scorers) {
      if (live.nested && !isForNested(scorer)) continue
      ledger.leftOut(scorer.id, 'sampled-out')
      if (options.emit.metrics) metrics.countLeftOut(scorer.about)
    }
  }

  #offer(scored: ScoredRun, scorer: ResolvedScorer, inline: Inline[]): void {
    const { live } = scored
    const { sample } = scorer
    if (!mayWant(scorer, scored.place)) {
      this.#settle(scored, scorer, sampledOut(typeof sample === 'number' ? sample : 0), undefined)
      return
    }
    if (live.effortBytes > MAX_READ_BYTES) {
      this.#settle(scored, scorer, TOO_LARGE, undefined)
      return
    }
    // What is large is not even put together while the span is ending.
    const isSmall = live.effortBytes <= this.#parts.options.maxSyncBytes
    const run = isSmall ? this.#current(live) : undefined
    if (isSmall && run === undefined) {
      this.#settle(scored, scorer, NO_RUN, undefined)
      return
    }
    if (run !== undefined && !isForAgent(scorer, run)) {
      this.#settle(scored, scorer, filtered('agent'), run)
      return
    }
    if (!claim(live.span, scorer.id)) {
      this.#settle(scored, scorer, ALREADY_SCORED, run)
      return
    }
    const isSampled = (scored.target.traceFlags & TraceFlags.SAMPLED) !== 0
    if (scorer.scorer.kind === 'judge' && !isSampled && !this.#parts.options.scoreUnsampled) {
      this.#settle(scored, scorer, UNSAMPLED, run)
      return
    }
    if (run === undefined || !this.#runsInline(scorer, live)) {
      this.#wait(scored, scorer)
      return
    }
    const decision = decideByRun(scorer, run, scored.place)
    if (decision.status !== 'chosen') {
      this.#settle(scored, scorer, decision, run)
      return
    }
    const { rate } = decision
    const refused = tooHeavy(rate, scored.upstream)
    if (refused === undefined) inline.push({ scorer, run, rate })
    else this.#settle(scored, scorer, refused, run, rate)
  }

  #runsInline({ scorer, id }: ResolvedScorer, live: ScorableRun): boolean {
    return scorer.inline && scorer.kind === 'code' && !live.bare && !this.#deferred.has(id)
  }

  #current(live: ScorableRun): AgentRun | undefined {
    return this.#parts.reporter.guard('Putting a run together', () => live.current())
  }

  #wait(scored: ScoredRun, scorer: ResolvedScorer): void {
    this.#parts.jobs.expect(scored)
    scored.waiting.push(scorer)
  }

  #scoreInline(scored: ScoredRun, inline: readonly Inline[]): void {
    const evaluations = isolated(() => inline.map((each) => this.#evaluateTimed(scored, each)))
    for (const [index, { scorer, run, rate }] of inline.entries()) {
      const evaluation = evaluations[index]
      if (evaluation === undefined) continue
      if (evaluation instanceof Promise) {
        this.#awaitInline(scorer.id, evaluation)
        this.#parts.jobs.adopt(scored, scorer, run, evaluation)
        continue
      }
      this.#parts.writer.write(scored, evaluation, run)
      if (scored.live.hasOpenSpans) scored.provisional.push({ scorer, rate, evaluation })
    }
  }

  #scoreAgain(scored: ScoredRun, { scorer, rate, evaluation }: ScoredRun['provisional'][number]): void {
    const run = this.#current(scored.live)
    if (run === undefined || run.revision === evaluation.revision) return
    const again = isolated(() => this.#evaluate(scored, { scorer, run, rate }))
    const write = (next: Evaluation) => {
      if (differs(next.score, evaluation.score)) this.#parts.writer.write(scored, next, run, false)
    }
    if (again instanceof Promise) void again.then(write)
    else write(again)
  }

  #evaluateTimed(scored: ScoredRun, inline: Inline): Evaluation | Promise<Evaluation> {
    const { id } = inline.scorer
    const startCpuMs = this.#speed.start(id)
    const evaluation = this.#evaluate(scored, inline)
    if (!(evaluation instanceof Promise) && this.#speed.isTooSlow(id, evaluation.durationMs, startCpuMs)) {
      this.#defer(id, `took ${Math.round(evaluation.durationMs)} ms`)
    }
    return evaluation
  }

  #evaluate(scored: ScoredRun, { scorer, run, rate }: Inline): Evaluation | Promise<Evaluation> {
    const { about, passAt } = scorer
    const { timeoutMs } = this.#parts.options
    const { upstream } = scored
    return evaluate(scorer.scorer, run, {
      about,
      passAt,
      timeoutMs,
      probability: rate,
      ...(upstream !== undefined && { upstreamProbability: upstream }),
    })
  }

  /**
   * A scorer that says it is synchronous may have something to load when it is first needed. One that returns a promise again
   * after that is not synchronous, and runs later from then on.
   */
  #awaitInline(id: string, evaluation: Promise<Evaluation>): void {
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

  /** Above 0, at most 1; `undefined` where the mean speaks of the runs that this process saw. */
  #upstreamOf({ target }: ScoredRun): number | undefined {
    const { options, reporter } = this.#parts
    const probability = upstreamProbability(options.upstreamProbability, target.traceState)
    if (probability === undefined && options.upstreamProbability === 'tracestate') {
      reporter.warnOnce(
        'upstream',
        "Runs whose tracestate has no ot=th: count as if the tracer kept all of them: means mix them with runs that count for those it left out. Let every caller's sampler write it, or set upstreamProbability to a number.",
      )
    }
    return probability
  }

  /** @param probability Where the run had been chosen for the scorer. */
  #settle(
    scored: ScoredRun,
    scorer: ResolvedScorer,
    score: Score,
    run: AgentRun | undefined,
    probability?: number,
  ): void {
    this.#parts.writer.write(scored, evaluationOf(scored, scorer, score, run, probability), run)
  }
}

/** In place of a `ScoredRun`: counted, and nothing else. */
const LEFT_OUT = {}

/** Whether a scorer looks at agents that another agent started. */
function isForNested({ scope, agents }: ResolvedScorer): boolean {
  return scope === 'every-agent' || agents !== undefined
}

function differs(a: Score, b: Score): boolean {
  if (a.status !== b.status) return true
  if (a.status === 'scored' && b.status === 'scored') return a.value !== b.value || a.label !== b.label
  return false
}
