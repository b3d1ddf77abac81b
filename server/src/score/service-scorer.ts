import { TraceFlags } from '@opentelemetry/api'
import type { SpanContext } from '@opentelemetry/api'
import { CopiedAttributes, OfferedRuns } from 'spanscore/engine'
import type { AgentRun, Evaluation, OfferedRun as ScoredOffer, ScoringOptions } from 'spanscore/engine'

import type { GatheredRecords } from '../send/gathered-scores.ts'
import type { ServiceMeters } from '../send/service-meters.ts'
import type { JudgeJobs } from './judge-job.ts'
import type { OfferedRun, RunScorer } from './run-scorer.ts'
import { scoreIds } from './score-ids.ts'
import type { ScoreIds } from './score-ids.ts'
import { ScoreOutputs } from './score-outputs.ts'
import type { ExtraAttributes } from './score-outputs.ts'

/** The parts of a service's scorer. */
export interface ServiceScorerParts {
  readonly options: ScoringOptions
  /** The destination of metrics. */
  readonly meters: ServiceMeters
  /** Receives each result as it is written. */
  readonly onScore?: OnScore
  /** Receives questions for judges in another process. Without it, judges are asked here. */
  readonly jobs?: JudgeJobs | undefined
}

/** Called with each result of a scorer; the id is the run's. */
export type OnScore = (runId: string, ids: ScoreIds, evaluation: Evaluation) => void

/** Scores runs, and writes the results. */
export class ServiceScorer implements RunScorer {
  readonly #outputs: ScoreOutputs
  readonly #runs: OfferedRuns
  readonly #copied: CopiedAttributes
  readonly #onScore: OnScore | undefined
  readonly #jobs: JudgeJobs | undefined

  /** @throws TypeError `<path>: expected …, got …` */
  constructor({ options, meters, onScore, jobs }: ServiceScorerParts) {
    this.#onScore = onScore
    this.#jobs = jobs
    this.#runs = new OfferedRuns({
      options,
      write: (offered, evaluation, run, counted) => this.#write(offered, evaluation, run, counted),
      onLeftOut: ({ run }, scorer) => this.#outputs.metricsOf(run.resource).countLeftOut(scorer),
      handOver:
        jobs &&
        (({ run, spans, isCounted }, handed) => {
          const ids = scoreIds(run, handed.scorer, spans)
          const { resource } = run
          return jobs.write({
            ...handed,
            ids,
            revision: spans.count,
            isCounted,
            resource,
            extra: this.#extraOf(run),
          })
        }),
    })
    this.#outputs = new ScoreOutputs(this.#runs.options.emit, meters, () => this.#runs.queued)
    this.#copied = new CopiedAttributes(this.#runs.options.metricAttributes)
  }

  /** The configured scorers. */
  get scorers(): readonly { readonly id: string; readonly version: string }[] {
    return this.#runs.options.scorers.map(({ about: { id, version } }) => ({ id, version }))
  }

  /** Judges that cannot be asked, such as those without an API key. */
  get unavailableJudges(): readonly { readonly id: string; readonly why: string }[] {
    return this.#runs.options.scorers.flatMap(({ id, scorer }) => {
      const why = scorer.judge?.unavailable()
      return why === undefined ? [] : [{ id, why }]
    })
  }

  /** Ids of the configured scorers. */
  get scorerIds(): readonly string[] {
    return this.#runs.options.scorers.map(({ id }) => id)
  }

  get isBusy(): boolean {
    return this.#runs.isBusy || this.#jobs?.isFull === true
  }

  /** Waiting scores. */
  get queued(): number {
    return this.#runs.queued
  }

  /** The outcome of all runs, by scorer. */
  ledger(): ReturnType<OfferedRuns['ledger']> {
    return this.#runs.ledger()
  }

  async offer({ run, spans, isCounted }: OfferedRun): Promise<void> {
    const offer: ScoredOffer = { run, spans, isCounted, target: targetOf(run) }
    if (isCounted) this.#outputs.metricsOf(run.resource).countRun('closed', run.agent.name)
    await this.#runs.offer(offer)
  }

  /** Records written since the last call. */
  take(): GatheredRecords {
    return this.#outputs.take()
  }

  async shutdown(): Promise<void> {
    this.#runs.stop()
    await this.#outputs.shutdown()
  }

  #write(offered: ScoredOffer, evaluation: Evaluation, run: AgentRun | undefined, counted: boolean): void {
    const { spans, target } = offered
    const ids = scoreIds(target, evaluation.scorer, spans)
    const revised = { ...evaluation, revision: spans.count }
    this.#onScore?.(`${target.traceId}:${target.spanId}`, ids, revised)
    this.#outputs.write(offered.run.resource, {
      evaluation: revised,
      run,
      target,
      endTimeMs: offered.run.endTimeMs,
      ids,
      counted,
      extra: this.#extraOf(offered.run),
    })
  }

  #extraOf({ attributes, resource }: AgentRun): ExtraAttributes {
    return this.#copied.of({ attributes, resource: { attributes: resource } })
  }
}

function targetOf({ traceId, spanId }: AgentRun): SpanContext {
  return { traceId, spanId, traceFlags: TraceFlags.SAMPLED, isRemote: true }
}
