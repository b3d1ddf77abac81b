import { TraceFlags } from '@opentelemetry/api'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'

import type { Evaluation } from '../model/score.ts'
import { readOtlpJson } from '../otlp/json.ts'
import { toRunInput } from '../scoring/given/run-input.ts'
import { Emitter } from './emitter.ts'
import { lateSpansAsOtlp, scoresAsOtlp } from './otlp-json.ts'
import { ProviderSink } from './provider-sink.ts'

const { run } = toRunInput({ runId: 'r', input: 'Where is it?', output: 'In Oslo.' })
const place = { traceId: '1'.repeat(32), spanId: '2'.repeat(16) }
const spans = { count: 2, digest: 'd' }
const nowMs = 1_700_000_000_123

const someEvaluation: fc.Arbitrary<Evaluation> = fc.record(
  {
    scorer: fc.record({
      id: fc.constantFrom('works', 'other'),
      version: fc.constant('1a2b3c4d'),
      kind: fc.constantFrom('code' as const, 'judge' as const),
      range: fc.constant([0, 10] as const),
      better: fc.constantFrom('higher' as const, 'lower' as const),
      passAt: fc.constant(5),
      level: fc.constant('run' as const),
    }),
    runId: fc.constant(run.id),
    revision: fc.constant(spans.count),
    complete: fc.boolean(),
    durationMs: fc.constant(1),
    probability: fc.double({ min: 0.001, max: 1, noNaN: true }),
    judge: fc.record({ model: fc.string(), calls: fc.constant(1), usage: fc.constant({ outputTokens: 3 }) }),
    score: fc.oneof(
      fc.record({
        status: fc.constant('scored' as const),
        value: fc.double({ min: 0, max: 10, noNaN: true }),
        label: fc.constantFrom('pass' as const, 'fail' as const),
        explanation: fc.string({ unit: 'grapheme' }),
        findings: fc.constant([{ about: 'claim', verdict: 'wrong', rating: 'bad', text: 'It is warm.' }] as const),
      }),
      fc.record({
        status: fc.constant('failed' as const),
        code: fc.constant('judge-http' as const),
        message: fc.string(),
      }),
    ),
  },
  { requiredKeys: ['scorer', 'runId', 'revision', 'complete', 'durationMs', 'score'] },
)

test('A score says the same as a record of the application, and in a file', () => {
  fc.assert(
    fc.property(someEvaluation, (evaluation) => {
      const events: Record<string, unknown>[] = []
      const lateSpans: Record<string, unknown>[] = []
      const sink = new ProviderSink(
        {
          loggerProvider: () => ({ getLogger: () => ({ emit: (record: never) => events.push(record) }) }),
          tracerProvider: () => ({
            getTracer: () => ({
              startSpan: (name: string, { attributes }: { attributes: Record<string, unknown> }) => {
                lateSpans.push({ name, attributes })
                return { end: () => undefined }
              },
            }),
          }),
        } as never,
        (what) => expect.unreachable(what),
      )
      new Emitter({
        options: {
          attributes: true,
          events: true,
          lateSpans: 'late',
          metrics: false,
          traits: false,
          explanations: 'all',
          stripContent: false,
        },
        sink,
        metrics: undefined as never,
        nowMs: () => nowMs,
      }).emit({
        evaluation,
        run,
        target: { ...place, traceFlags: TraceFlags.SAMPLED },
        endTime: [0, 0],
        isOnSpan: false,
        counted: true,
        extra: {},
        spans,
      })
      const where = { ...place, endTimeMs: run.endTimeMs, resource: {}, run, spans }
      const options = { explanations: 'all', nowMs } as const
      const inFile = readOtlpJson(scoresAsOtlp(where, [evaluation], options))?.logs ?? []
      const lateInFile = readOtlpJson(lateSpansAsOtlp(where, [evaluation], options))?.spans ?? []
      expect(inFile.map(({ attributes, eventName }) => ({ attributes, eventName }))).toEqual(
        events.map(({ attributes, eventName }) => ({ attributes, eventName })),
      )
      expect(lateInFile.map(({ attributes, name }) => ({ attributes, name }))).toEqual(lateSpans)
    }),
  )
})
