import type { ObservableResult } from '@opentelemetry/api'

import type { JudgeWorker } from '../kafka/judges/judge-worker.ts'
import type { Outbox } from './outbox.ts'
import type { MeterOutput, ServiceMeters } from './service-meters.ts'

/** A judge worker's own metrics, under the resource `service.name=spanscore`. They contain counts, never content. */
export class JudgeMetrics {
  readonly #output: MeterOutput

  constructor(worker: JudgeWorker, outbox: Outbox, meters: ServiceMeters) {
    this.#output = meters.create({ 'service.name': 'spanscore' })
    const meter = this.#output.meterProvider.getMeter('spanscore')
    const counter = (name: string, description: string, observe: (result: ObservableResult) => void) =>
      meter.createObservableCounter(`spanscore.judge_worker.${name}`, { description }).addCallback(observe)
    const gauge = (name: string, description: string, unit: string, value: () => number) =>
      meter
        .createObservableGauge(`spanscore.judge_worker.${name}`, { description, unit })
        .addCallback((result) => result.observe(value()))
    const { counts } = worker
    counter('jobs', 'Jobs by outcome.', (result) => {
      result.observe(counts.asked, { outcome: 'judged' })
      for (const [reason, count] of counts.turnedDown) result.observe(count, { outcome: 'skipped', reason })
      for (const [reason, count] of Object.entries(counts.unasked)) {
        result.observe(count, { outcome: 'skipped', reason })
      }
      result.observe(counts.duplicates, { outcome: 'duplicate' })
      result.observe(counts.dead, { outcome: 'dead-letter' })
      result.observe(counts.lostToRetention, { outcome: 'lost-to-retention' })
      result.observe(counts.abandoned, { outcome: 'handed-on' })
    })
    counter('left', 'How often a job was postponed because its provider was overloaded or unavailable.', (result) =>
      result.observe(counts.left),
    )
    counter('commits', 'Commits by outcome.', (result) => {
      result.observe(worker.commits.taken, { outcome: 'taken' })
      result.observe(worker.commits.failed, { outcome: 'failed' })
    })
    counter('scores', 'Records with scores by the answer of the destination.', (result) => {
      result.observe(outbox.counts.acknowledged, { outcome: 'acknowledged' })
      result.observe(outbox.counts.refused, { outcome: 'refused' })
      result.observe(outbox.counts.failures, { outcome: 'failed-attempt' })
    })
    gauge('lag', 'Jobs on the partitions of this worker that are not done.', '{job}', () => worker.lag)
    gauge('in_flight', 'Jobs whose judges were asked and that are not committed.', '{job}', () => worker.inFlight)
    gauge(
      'writes_failing',
      'For how long dead letters could not be written to Kafka; 0 if they can.',
      's',
      () => worker.deadLettersFailingForMs / 1000,
    )
    gauge('partitions', 'Partitions of this worker.', '{partition}', () => worker.partitions.length)
    gauge(
      'budget_used_ratio',
      'How much of the tightest limit is used, in the partition that has used most.',
      '1',
      () => worker.budgetUsedRatio,
    )
    gauge('outbox_size', 'Scores that wait for the destination.', '{score}', () => outbox.size)
    gauge(
      'provider_paused',
      'Whether judges are not asked for now because a provider is overloaded or unavailable: 0 or 1.',
      '{worker}',
      () => (worker.isPaused ? 1 : 0),
    )
    gauge('stuck', 'Whether no job is started or finished although some wait: 0 or 1.', '{worker}', () =>
      worker.idle === undefined ? 0 : 1,
    )
  }

  shutdown(): Promise<void> {
    return this.#output.shutdown()
  }
}
