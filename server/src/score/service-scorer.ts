import { TraceFlags } from '@opentelemetry/api'
import type { SpanContext } from '@opentelemetry/api'
import {
  AgentNames,
  agentProblems,
  carriesScore,
  conversationKey,
  conversationOffers,
  conversationToScore,
  CopiedAttributes,
  Engine,
  FailingJudges,
  isForConversations,
  redactedMember,
  Reporter,
  resolveOptions,
  scoreIds,
  toScorable,
  withoutPause,
} from 'spanscore/engine'
import type {
  AgentRun,
  ConversationWarnings,
  Conversation,
  Evaluation,
  ExplanationRules,
  ScorableRun,
  ScoreTarget,
  ScoringOptions,
  TextRedactor,
} from 'spanscore/engine'

import type { KeptTurn } from '../log/turn-table.ts'
import type { GatheredRecords } from '../send/gathered-scores.ts'
import type { ServiceMeters } from '../send/service-meters.ts'
import type { ConversationScorer, OfferedConversation } from './conversation-scorer.ts'
import type { OfferedRun, RunScorer } from './run-scorer.ts'
import { ScoreOutputs } from './score-outputs.ts'

/** The parts of a service's scorer. */
export interface ServiceScorerParts {
  readonly options: ScoringOptions
  /** The destination of metrics. */
  readonly meters: ServiceMeters
  /** Receives each result as it is written. */
  readonly onScore?: OnScore
  /** Redacts explanations and findings. @default they stay as they are */
  readonly redactor?: TextRedactor | undefined
  /** The scorer that this one replaces. What its judges have spent counts against the budget. */
  readonly replaced?: ServiceScorer | undefined
}

/** Called with each result of a scorer. */
export type OnScore = (scored: ScoredUnit) => void

/** A scorer's result for a run or a nested run, or for a conversation as the scorer saw it. */
export type ScoredUnit =
  | { readonly runId: string; readonly key: string; readonly evaluation: Evaluation }
  | { readonly conversation: Conversation; readonly key: string; readonly evaluation: Evaluation }

/**
 * Maximum milliseconds for one call of an inline scorer. No application request waits for it, and queueing a score costs more than a quick
 * scorer does. The limit is generous so that a scorer whose first calls were slow, because its code was new, is not deferred for good.
 */
const MAX_INLINE_MS = 50

/** Scores runs, and writes the results. */
export class ServiceScorer implements RunScorer, ConversationScorer {
  readonly #engine: Engine
  readonly #failing = new FailingJudges()
  readonly #reporter = new Reporter()
  readonly #agents: AgentNames
  readonly #scoresConversations: boolean
  readonly #outputs: ScoreOutputs
  readonly #copied: CopiedAttributes
  readonly #onScore: OnScore | undefined
  readonly #redactor: TextRedactor | undefined

  /** @throws TypeError `<path>: expected …, got …` */
  constructor({ options, meters, onScore, redactor, replaced }: ServiceScorerParts) {
    this.#onScore = onScore
    this.#redactor = redactor
    const resolved = resolveOptions(options, true)
    this.#engine = new Engine({
      options: resolved,
      reporter: this.#reporter,
      onLeftOut: (run, scorer) => {
        const resource = run.current()?.resource
        if (resource !== undefined) this.#outputs.metricsOf(resource).countLeftOut(scorer)
      },
      maxInlineMs: MAX_INLINE_MS,
      budget: replaced?.budget,
    })
    this.#agents = new AgentNames(resolved.scorers)
    this.#scoresConversations = resolved.scorers.some(isForConversations)
    this.#outputs = new ScoreOutputs(resolved, meters, {
      queueSize: () => this.queued,
      budgetUsedRatio: () => this.#engine.budget.usedRatio(),
    })
    this.#copied = new CopiedAttributes(resolved.metricAttributes)
  }

  /** The budget of the judges. */
  get budget(): Engine['budget'] {
    return this.#engine.budget
  }

  /** The configured scorers. */
  get scorers(): readonly { readonly id: string; readonly version: string }[] {
    return this.#engine.options.scorers.map(({ about: { id, version } }) => ({ id, version }))
  }

  get unavailableJudges(): readonly { readonly id: string; readonly why: string }[] {
    return unavailableAmong(this.#engine.options.scorers)
  }

  /** Judges whose server is not asked for a while, such as those with a refused key, and those that fail again and again. */
  get troubledJudges(): readonly { readonly id: string; readonly why: string }[] {
    const unasked = this.#engine.options.scorers.flatMap(({ id, scorer }) => {
      const why = scorer.judge?.trouble?.()
      return why === undefined ? [] : [{ id, why }]
    })
    return [...unasked, ...this.#failing.now]
  }

  /** Judges whose calls do not count against the dollars of the budget. */
  get unpricedJudges(): readonly string[] {
    const { scorers, budget } = this.#engine.options
    if (budget.usdPerDay === Number.POSITIVE_INFINITY) return []
    return scorers.flatMap(({ id, scorer }) => (scorer.judge?.priced === false ? [id] : []))
  }

  /** What of explanations and of users' words is sent. */
  get rules(): ExplanationRules {
    return this.#engine.options.emit
  }

  /** Ids of the configured scorers. */
  get scorerIds(): readonly string[] {
    return this.#engine.options.scorers.map(({ id }) => id)
  }

  get isBusy(): boolean {
    return this.#engine.tasks.isBusy
  }

  /** Waiting scores. */
  get queued(): number {
    return this.#engine.tasks.queued
  }

  /** The outcome of all runs, by scorer. */
  ledger(): ReturnType<Engine['ledger']['snapshot']> {
    return this.#engine.ledger.snapshot(0)
  }

  /** Maximum milliseconds for one score, including retries. */
  get timeoutMs(): number {
    return this.#engine.options.timeoutMs
  }

  /** Passes a run and its nested runs to the scorers. */
  async offer(offered: OfferedRun, lost: AbortSignal): Promise<boolean> {
    const { run, isCounted } = offered
    if (isCounted) this.#outputs.metricsOf(run.resource).countRun('closed', run.agent.name)
    if (isCounted) for (const { agent } of [run, ...nestedOf(run)]) this.#look(agent.name)
    const nested = this.#engine.countsNested ? nestedOf(run) : []
    const whole = await Promise.all([run, ...nested].map((each) => this.#offerOne(offered, each, lost)))
    this.#engine.ledger.runClosed()
    return whole.every(Boolean)
  }

  async turnOf(run: AgentRun, warnings: ConversationWarnings): Promise<KeptTurn | undefined> {
    const key = conversationKey(run)
    if (!this.#scoresConversations) {
      if (key !== undefined) warnings.notScored()
      return undefined
    }
    if (key === undefined) {
      warnings.withoutId(run)
      this.#outputs.metricsOf(run.resource).countConversation('without-id', run.agent.name)
      return undefined
    }
    return this.#engine.isConversationWanted(key)
      ? { key, member: await this.#engine.background.run(redactedMember(run, this.#engine.options.redact)) }
      : undefined
  }

  isFreeFor(service: string): boolean {
    const asksJudges = this.#engine.options.scorers.some(
      (scorer) => isForConversations(scorer) && scorer.scorer.kind === 'judge',
    )
    return !asksJudges || this.#engine.budget.isFree(service)
  }

  async offerConversation(offered: OfferedConversation, lost: AbortSignal): Promise<boolean> {
    const { key, members, hasBeenScored } = offered
    const isWanted = this.#engine.isConversationWanted(key)
    const offers = conversationOffers(this.#engine.options.scorers, members, offered)
    const whole = await Promise.all(
      offers.map((offer) =>
        this.#settle(
          conversationToScore(key, offer, isWanted),
          () => this.#targetOfConversation(key, offer.run, !hasBeenScored),
          lost,
        ),
      ),
    )
    const [first] = offers
    if (first !== undefined) this.#countConversation(first.run, offered)
    return whole.every(Boolean)
  }

  #countConversation(
    { agent, resource, conversation }: AgentRun,
    { hasBeenScored, endedBy }: OfferedConversation,
  ): void {
    const isIncomplete = conversation !== undefined && conversation.missing.length > 0
    const closed = endedBy === 'limit' ? 'evicted' : isIncomplete ? 'incomplete' : 'closed'
    this.#outputs.metricsOf(resource).countConversation(hasBeenScored ? 'revised' : closed, agent.name)
  }

  #targetOfConversation(key: string, run: AgentRun, isCounted: boolean): ScoreTarget {
    const spanContext = spanContextOf(run)
    const { resource, endTimeMs, conversation } = run
    const extra = this.#copied.of({ attributes: {}, resource: { attributes: resource } })
    return {
      spanContext,
      isHeld: false,
      claim: () => true,
      write: (given, read, isFirst) => {
        if (conversation === undefined) return
        const evaluation = this.#redacted(given)
        this.#failing.look(evaluation)
        const counted = isFirst && isCounted
        const spans = { count: conversation.revision, digest: '' }
        this.#onScore?.({ conversation, key, evaluation })
        this.#outputs.write(resource, { evaluation, run: read, target: spanContext, endTimeMs, spans, counted, extra })
      },
      allIn: () => undefined,
    }
  }

  /** Looks for agents that scorers are for and no run has. A scorer that was replaced has the names that somebody corrected, so the end reports none. */
  #look(agent: string | undefined): void {
    if (!this.#agents.look(agent)) return
    const problems = this.#engine.options.scorers.flatMap((scorer) => agentProblems(scorer, this.#agents.seen))
    for (const { subject, text, cure } of problems)
      this.#reporter.notify('SPANSCORE_NO_SUCH_AGENT', `${text} ${cure}`, { subject })
  }

  leaveUnasked(): void {
    this.#engine.tasks.withdrawUnasked()
  }

  /** Records written since the last call. */
  take(): GatheredRecords {
    return this.#outputs.take()
  }

  /** Drops pending scores. */
  async shutdown(): Promise<void> {
    this.#engine.tasks.beginShutdown()
    withoutPause(this.#engine.tasks.endShutdown())
    await this.#outputs.shutdown()
  }

  /** @returns false if another process scores the run */
  #offerOne(offered: OfferedRun, run: AgentRun, lost: AbortSignal): Promise<boolean> {
    const { isJudgedEnough = false } = offered
    const scorable = { ...toScorable(run, run !== offered.run, this.#engine.isWanted(run.traceId)), isJudgedEnough }
    return this.#settle(scorable, () => this.#targetOf(offered, run), lost)
  }

  /** @returns false if another process scores it */
  async #settle(scorable: ScorableRun, createTarget: () => ScoreTarget, lost: AbortSignal): Promise<boolean> {
    const scores = this.#engine.settle(scorable, true, createTarget)
    if (scores === undefined) return true
    const withdraw = () => this.#engine.tasks.withdraw(scores)
    lost.addEventListener('abort', withdraw)
    if (lost.aborted) withdraw()
    await scores.whenAllIn()
    lost.removeEventListener('abort', withdraw)
    return !scores.isWithdrawn
  }

  /** Scorers by code see the run as it is, and their explanations may quote it. */
  #redacted(evaluation: Evaluation): Evaluation {
    return this.#redactor === undefined ? evaluation : { ...evaluation, score: this.#redactor.apply(evaluation.score) }
  }

  /** @param run the offered run, or one that is nested in it */
  #targetOf({ spans, isCounted }: OfferedRun, run: AgentRun): ScoreTarget {
    const { resource, endTimeMs, attributes, surrounding } = run
    const spanContext = spanContextOf(run)
    const extra = this.#copied.of({ attributes, surrounding, resource: { attributes: resource } })
    const revision = spans.count
    return {
      spanContext,
      isHeld: false,
      claim: (scorer) => !carriesScore(attributes, scorer),
      write: (given, read, isFirst) => {
        const evaluation = this.#redacted(given)
        const revised = { ...evaluation, revision }
        this.#failing.look(evaluation)
        const { key } = scoreIds(spanContext, evaluation.scorer, spans)
        this.#onScore?.({ runId: `${spanContext.traceId}:${spanContext.spanId}`, key, evaluation: revised })
        const counted = isFirst && isCounted
        this.#outputs.write(resource, {
          evaluation: revised,
          run: read,
          target: spanContext,
          endTimeMs,
          spans,
          counted,
          extra,
        })
      },
      allIn: () => undefined,
    }
  }
}

function nestedOf(run: AgentRun): readonly AgentRun[] {
  return run.children.flatMap((child) => [child, ...nestedOf(child)])
}

function spanContextOf({ traceId, spanId }: AgentRun): SpanContext {
  return { traceId, spanId, traceFlags: TraceFlags.SAMPLED, isRemote: true }
}

/** Judges that cannot be asked, such as those without an API key. */
export function unavailableAmong(scorers: Engine['options']['scorers']): ServiceScorer['unavailableJudges'] {
  return scorers.flatMap(({ id, scorer }) => {
    const why = scorer.judge?.unavailable()
    return why === undefined ? [] : [{ id, why }]
  })
}
