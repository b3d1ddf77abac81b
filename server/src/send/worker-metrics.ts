import type { ObservableResult } from '@opentelemetry/api'

import type { Worker } from '../kafka/worker.ts'
import type { Outbox } from './outbox.ts'
import type { MeterOutput, ServiceMeters } from './service-meters.ts'

/** A worker's own metrics, under the resource `service.name=spanscore`. They contain counts, never content. */
export class WorkerMetrics {
  readonly #output: MeterOutput

  constructor(worker: Worker, outbox: Outbox, meters: ServiceMeters) {
    this.#output = meters.own()
    const meter = this.#output.meterProvider.getMeter('spanscore')
    const counter = (name: string, description: string, observe: (result: ObservableResult) => void) =>
      meter.createObservableCounter(`spanscore.worker.${name}`, { description }).addCallback(observe)
    const gauge = (name: string, description: string, unit: string, value: () => number) =>
      meter
        .createObservableGauge(`spanscore.worker.${name}`, { description, unit })
        .addCallback((result) => result.observe(value()))
    const { counts } = worker
    counter('messages', 'Messages that were read, by outcome.', (result) => {
      result.observe(counts.messages - counts.dead, { outcome: 'read' })
      result.observe(counts.dead, { outcome: 'dead-letter' })
      result.observe(counts.lostToRetention, { outcome: 'lost-to-retention' })
    })
    counter('spans', 'Spans that were read.', (result) => result.observe(counts.spans))
    counter('spans_left_out', 'Spans that are part of no scored run, by reason.', (result) => {
      const { late, overLimit } = worker.traces()
      result.observe(counts.tooLarge, { reason: 'too-large' })
      result.observe(counts.invalid, { reason: 'invalid-ids' })
      result.observe(late, { reason: 'late' })
      result.observe(overLimit, { reason: 'over-limit' })
    })
    counter('carried', 'Messages that were appended again so that commits could advance.', (result) =>
      result.observe(counts.carried),
    )
    counter('commits', 'Commits by outcome.', (result) => {
      result.observe(counts.commits - counts.longCommits, { outcome: 'taken' })
      result.observe(counts.longCommits, { outcome: 'taken-long' })
      result.observe(counts.failedCommits, { outcome: 'failed' })
    })
    counter('scores', 'Records with scores by the answer of the destination.', (result) => {
      result.observe(outbox.counts.acknowledged, { outcome: 'acknowledged' })
      result.observe(outbox.counts.refused, { outcome: 'refused' })
      result.observe(outbox.counts.failures, { outcome: 'failed-attempt' })
    })
    gauge(
      'writes_failing',
      'For how long dead letters could not be written to Kafka; 0 if they can.',
      's',
      () => worker.deadLettersFailingForMs / 1000,
    )
    gauge('lag', 'Messages on the partitions of this worker that were not read yet.', '{message}', () => worker.lag)
    gauge('partitions', 'Partitions of this worker.', '{partition}', () => worker.partitions.length)
    gauge('held_messages', 'Messages whose runs are not finished.', '{message}', () => worker.traces().held)
    gauge('outbox_size', 'Runs whose scores wait for the destination.', '{run}', () => outbox.size)
    gauge('stuck', 'Whether nothing is read although there is something to read: 0 or 1.', '{worker}', () =>
      worker.condition.idle === undefined ? 0 : 1,
    )
  }

  shutdown(): Promise<void> {
    return this.#output.shutdown()
  }
}
