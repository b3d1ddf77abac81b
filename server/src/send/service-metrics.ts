import type { ObservableResult } from '@opentelemetry/api'

import type { SpanLog } from '../log/span-log.ts'
import type { FeedbackIntake } from '../feedback.ts'
import type { Receiver } from '../receive/receive.ts'
import type { Service } from '../service.ts'
import type { HeldTraces } from '../traces/held-traces.ts'
import type { Forwarder } from './forwarder.ts'
import type { Outbox } from './outbox.ts'
import type { MeterOutput, ServiceMeters } from './service-meters.ts'

/** The parts that are measured. */
export interface MeasuredParts {
  readonly receiver: Receiver
  readonly buffer: HeldTraces
  readonly outbox: Outbox
  readonly forwarder: Forwarder | undefined
  readonly feedback: Pick<FeedbackIntake, 'counts'>
  readonly service: Service
  readonly conversations: { readonly open: number; readonly waiting: number }
  readonly log: SpanLog
  /** Why the configuration file is not in effect as it is now; `undefined` if it is. */
  readonly configTrouble: () => string | undefined
}

/** The service's own metrics, under the resource `service.name=spanscore`. They contain counts, never content. */
export class ServiceMetrics {
  readonly #output: MeterOutput

  constructor(
    { receiver, buffer, outbox, forwarder, feedback, service, conversations, log, configTrouble }: MeasuredParts,
    meters: ServiceMeters,
  ) {
    this.#output = meters.own()
    const meter = this.#output.meterProvider.getMeter('spanscore')
    const counter = (name: string, description: string, observe: (result: ObservableResult) => void) =>
      meter.createObservableCounter(`spanscore.service.${name}`, { description }).addCallback(observe)
    const gauge = (name: string, description: string, unit: string, value: () => number) =>
      meter
        .createObservableGauge(`spanscore.service.${name}`, { description, unit })
        .addCallback((result) => result.observe(value()))
    counter('spans', 'Spans that were received.', (result) => result.observe(receiver.counts.spans))
    counter('log_records', 'Log records that were received.', (result) => result.observe(receiver.counts.logRecords))
    counter('requests', 'Requests by outcome.', (result) => {
      result.observe(receiver.counts.requests, { outcome: 'accepted' })
      for (const [reason, count] of receiver.counts.refused) result.observe(count, { outcome: 'refused', reason })
    })
    counter('spans_left_out', 'Spans that are part of no scored run, by reason.', (result) => {
      const { invalid, tooLarge } = receiver.counts
      result.observe(invalid - tooLarge, { reason: 'invalid-ids' })
      result.observe(tooLarge, { reason: 'too-large' })
      result.observe(buffer.counts.late, { reason: 'late' })
      result.observe(service.counts.repeated, { reason: 'repeated' })
      result.observe(buffer.counts.overLimit, { reason: 'over-limit' })
      result.observe(service.counts.undecodable, { reason: 'undecodable' })
      result.observe(buffer.counts.expired, { reason: 'expired' })
    })
    counter('runs', 'Runs that were passed to the scorers, and revisions of them.', (result) => {
      result.observe(service.counts.runs, { kind: 'run' })
      result.observe(service.counts.revisions, { kind: 'revision' })
    })
    counter('errors', 'Errors of the service itself.', (result) => result.observe(service.counts.errors))
    counter('scores', 'Records with scores by the answer of the destination.', (result) => {
      result.observe(outbox.counts.acknowledged, { outcome: 'acknowledged' })
      result.observe(outbox.counts.refused, { outcome: 'refused' })
      result.observe(outbox.counts.failures, { outcome: 'failed-attempt' })
    })
    meter
      .createObservableCounter('spanscore.feedback', { description: "Users' feedback, by its name and label." })
      .addCallback((result) => {
        for (const { name, label, count } of feedback.counts) {
          const ofLabel = label === undefined ? {} : { 'gen_ai.evaluation.score.label': label }
          result.observe(count, { 'gen_ai.evaluation.name': name, ...ofLabel })
        }
      })
    counter('forwarded', 'Forwarded requests, by outcome.', (result) => {
      if (forwarder === undefined) return
      result.observe(forwarder.counts.forwarded, { outcome: 'acknowledged' })
      result.observe(forwarder.counts.refused, { outcome: 'refused' })
      result.observe(forwarder.counts.failures, { outcome: 'failed-attempt' })
    })
    gauge('held_spans', 'Spans of runs that are not complete, or may get late spans.', '{span}', () => buffer.heldSpans)
    gauge('content_bytes', 'Content of spans in memory, as an estimate.', 'By', () => buffer.contentBytes)
    gauge('receiving_bytes', 'Bytes of requests that are not answered yet.', 'By', () => receiver.inFlight.bytes)
    gauge('outbox_size', 'Runs whose scores wait for the destination.', '{run}', () => outbox.size)
    gauge('open_conversations', 'Conversations that are not over.', '{conversation}', () => conversations.open)
    gauge(
      'waiting_conversations',
      'Conversations that are over and wait for their scores, such as for room in the budget of judges.',
      '{conversation}',
      () => conversations.waiting,
    )
    gauge('forward_waiting', 'Requests that wait to be forwarded.', '{request}', () => log.waitingToForward)
    gauge('log_bytes', 'Bytes on the log.', 'By', () => log.heldBytes)
    gauge(
      'config_last_reload_successful',
      'Whether the configuration file is in effect as it is now: 0 or 1.',
      '1',
      () => (configTrouble() === undefined ? 1 : 0),
    )
    gauge(
      'undelivered_seconds',
      'For how long no score was acknowledged although some were sent.',
      's',
      () => outbox.failingForMs / 1000,
    )
  }

  shutdown(): Promise<void> {
    return this.#output.shutdown()
  }
}
