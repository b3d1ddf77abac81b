import type { AgentRun } from '../model/agent-run.ts'
import type { Evaluation } from '../model/score.ts'
import { Budget } from '../sampling/budget.ts'
import { SamplePoint } from '../sampling/sample-point.ts'
import { upstreamProbability } from '../sampling/upstream.ts'
import { Background } from '../scoring/background.ts'
import { Ledger } from '../scoring/ledger.ts'
import { admit } from './admission.ts'
import type { Rejected } from './admission.ts'
import { isForNested, mayChoose, rateUnread } from './choose-run.ts'
import type { ResolvedOptions, ResolvedScorer } from './config/options.ts'
import { isForConversations } from './conversation-offers.ts'
import { InlineScoring } from './inline-scoring.ts'
import type { InlineScore } from './inline-scoring.ts'
import type { ScoreTarget } from './score-target.ts'
import { EVICTED } from './rejections.ts'
import type { Reporter } from './reporter.ts'
import { RunScores, Task } from './run-scores.ts'
import type { ScorableRun } from './scorable-run.ts'
import { Tasks } from './tasks.ts'

/** What an engine needs. */
export interface EngineParts {
  /** The scorers, and how they are asked. */
  readonly options: ResolvedOptions
  /** Reports problems. */
  readonly reporter: Reporter
  /** Called for each scorer of a run that no scorer's fixed rate keeps. Such a run is only counted. */
  readonly onLeftOut: (run: ScorableRun, scorer: Evaluation['scorer']) => void
  /** Maximum milliseconds that a scorer may take while a run is ending. @default 5 */
  readonly maxInlineMs?: number | undefined
  /** The budget of an earlier engine, whose spending counts here too. @default a new one */
  readonly budget?: Budget | undefined
}

const now = (): number => performance.now()

/**
 * Takes runs, and a target for the scores of each. Every run is offered to the scorers that are for it. Some score at once, while the agent's
 * span is ending, the others when the run is settled. Each scorer ends with exactly one score, skip or failure per run.
 *
 * The processor, whose spans are live, and the service, which reads spans from a log, differ only in their runs and targets.
 */
export class Engine {
  readonly options: ResolvedOptions
  readonly ledger: Ledger
  readonly budget: Budget
  /** Work that may take long. */
  readonly background: Background = new Background(now)
  /** Scores that are not given at once. */
  readonly tasks: Tasks
  /** Whether any scorer scores nested agents. */
  readonly countsNested: boolean
  /** The scorers of outermost runs, and those of nested ones too. */
  readonly #ofRuns: readonly ResolvedScorer[]
  readonly #ofNested: readonly ResolvedScorer[]
  readonly #reporter: Reporter
  readonly #onLeftOut: EngineParts['onLeftOut']
  readonly #inline: InlineScoring

  constructor({ options, reporter, onLeftOut, maxInlineMs, budget: known }: EngineParts) {
    this.options = options
    this.#reporter = reporter
    this.#onLeftOut = onLeftOut
    this.ledger = new Ledger(options.scorers.map(({ about }) => about))
    known?.change(options.budget)
    this.budget = known ?? new Budget(options.budget, now)
    this.#ofRuns = options.scorers.filter((scorer) => !isForConversations(scorer))
    this.#ofNested = this.#ofRuns.filter(isForNested)
    this.countsNested = this.#ofNested.length > 0
    const write = this.#write.bind(this)
    const { budget, background, ledger } = this
    this.tasks = new Tasks({ options, budget, reporter, background, ledger, now, write })
    this.#inline = new InlineScoring({ options, reporter, write, tasks: this.tasks, maxInlineMs })
  }

  /** Whether any scorer could want a run of this trace. */
  isWanted(traceId: string): boolean {
    const point = this.#pointOf(traceId)
    return this.#ofRuns.some((scorer) => mayChoose(scorer, point))
  }

  /** Whether any scorer could want this conversation. @param key `conversationKey` of its runs */
  isConversationWanted(key: string): boolean {
    const point = this.#pointOf(key)
    return this.options.scorers.some((scorer) => isForConversations(scorer) && mayChoose(scorer, point))
  }

  /**
   * Takes a run that has ended, and scores what can be scored at once. Each run is offered to the scorers once.
   *
   * @param createTarget called if the run is scored. Nothing is written to it before this returns unless a scorer scores at once
   * @returns `undefined` if the run is not scored
   */
  offer(run: ScorableRun, createTarget: () => ScoreTarget): RunScores | undefined {
    const known = run.scoringState
    if (known === LEFT_OUT) return undefined
    if (known instanceof RunScores) return known
    if (run.nested && !this.countsNested) return undefined
    if (!run.wanted) {
      this.#leaveOut(run)
      return undefined
    }
    const scores = this.#scoresOf(run, createTarget())
    run.scoringState = scores
    const inline: InlineScore[] = []
    for (const scorer of this.#scorersFor(run)) {
      this.ledger.offered(scorer.id)
      this.#offerTo(scores, scorer, inline)
    }
    if (inline.length > 0) this.#inline.score(scores, inline)
    return scores
  }

  /**
   * Called when nothing more of a run is expected. Queues the scorers that waited, and checks scores that were given while spans of the run
   * were open.
   *
   * @param isFinal false if spans of the run are still open; then it is called again once they have ended
   * @param createTarget for a run that is only found now
   */
  settle(run: ScorableRun, isFinal: boolean, createTarget: () => ScoreTarget): RunScores | undefined {
    const scores = this.offer(run, createTarget)
    if (scores === undefined) return undefined
    if (isFinal) scores.isSettled = true
    for (const task of scores.tasks) {
      if (task.state === 'waiting') this.tasks.add(task)
      else if (task.state === 'provisional' && isFinal) this.tasks.check(task)
    }
    return scores
  }

  /** The run was evicted before its agent ended: no scorer is asked, and the ledger counts it for each. */
  evict(run: ScorableRun, target: ScoreTarget): void {
    const scores = this.#scoresOf(run, target)
    for (const scorer of this.#ofRuns) {
      this.ledger.offered(scorer.id)
      const probability = mayChoose(scorer, scores.point) ? rateUnread(scorer) : undefined
      this.#reject(scores, scorer, { score: EVICTED, run: undefined, probability })
    }
  }

  #scorersFor({ isFor, nested, isJudgedEnough }: ScorableRun): readonly ResolvedScorer[] {
    if (isFor !== undefined) return this.options.scorers.filter(isFor)
    const scorers = nested ? this.#ofNested : this.#ofRuns
    return isJudgedEnough === true ? scorers.filter(({ scorer }) => scorer.kind !== 'judge') : scorers
  }

  #offerTo(scores: RunScores, scorer: ResolvedScorer, inline: InlineScore[]): void {
    const moment = this.#inline.isFor(scorer, scores.run) ? 'ending' : 'ending-deferred'
    const parts = { options: this.options, budget: this.budget, reporter: this.#reporter }
    const admission = admit(parts, { scores, scorer, moment })
    if (admission.status === 'admitted') {
      inline.push({ scorer, run: admission.run, probability: admission.probability })
    } else if (admission.status === 'deferred') {
      this.tasks.expect(Task.waiting(scores, scorer))
    } else {
      this.#reject(scores, scorer, admission)
    }
  }

  /** No scorer's fixed rate keeps the trace. This only counts it. */
  #leaveOut(run: ScorableRun): void {
    run.scoringState = LEFT_OUT
    for (const scorer of this.#scorersFor(run)) {
      this.ledger.leftOut(scorer.id, 'sampled-out')
      this.#onLeftOut(run, scorer.about)
    }
  }

  #reject(scores: RunScores, { about }: ResolvedScorer, { score, run, probability }: Omit<Rejected, 'status'>): void {
    this.#write(scores, scores.unasked(about, score, run, probability), run, true)
  }

  #write({ target }: RunScores, evaluation: Evaluation, run: AgentRun | undefined, isFirst: boolean): void {
    if (isFirst) this.ledger.settled(evaluation)
    if (evaluation.judge?.isEffortIgnored === true)
      this.#reportIgnoredEffort(evaluation.scorer.id, evaluation.judge.model)
    this.#reportMisspeltTool(evaluation)
    this.#reporter.guard('Writing a score', () => target.write(evaluation, run, isFirst))
  }

  #reportIgnoredEffort(id: string, model: string): void {
    const message = `${id}: the judge ${model} does not use judge.effort. Leave it out, or use another model.`
    this.#reporter.notify('SPANSCORE_JUDGE', message, { subject: `${model}:effort` })
  }

  #reportMisspeltTool({ scorer: { id }, score }: Evaluation): void {
    if (score.status !== 'skipped' || score.reason !== 'no-such-tool') return
    const message = score.messageWithoutContent ?? `${id} expects a tool that was never offered.`
    this.#reporter.notify('SPANSCORE_NO_SUCH_TOOL', message, { subject: message, kind: id })
  }

  #scoresOf(run: ScorableRun, target: ScoreTarget): RunScores {
    return new RunScores({ run, target, point: this.#pointOf(run.traceId), upstream: this.#upstreamOf(target) })
  }

  #pointOf(traceId: string): SamplePoint {
    return new SamplePoint(traceId, this.options.sampleSalt)
  }

  /** Above 0, at most 1; `undefined` if the mean describes only the runs that this process saw. */
  #upstreamOf({ spanContext: { traceState } }: ScoreTarget): number | undefined {
    const source = this.options.upstreamProbability
    const probability = this.#reporter.guard('tracestate', () => upstreamProbability(source, traceState))
    if (probability === undefined && source === 'tracestate') {
      this.#reporter.warnOnce(
        'upstream',
        "Some runs have no ot=th: in their tracestate. They count as if the tracer kept every run, so means are biased. Make every caller's sampler write it, or set upstreamProbability to a number.",
      )
    }
    return probability
  }
}

/** Replaces the `RunScores` of a run that is only counted. */
const LEFT_OUT = {}
