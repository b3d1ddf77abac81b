import { SpanKind } from '@opentelemetry/api'
import type { HrTime } from '@opentelemetry/api'
import { ProtobufLogsSerializer, ProtobufTraceSerializer } from '@opentelemetry/otlp-transformer'
import { resourceFromAttributes } from '@opentelemetry/resources'
import { array, assert, boolean, dictionary, double, integer, oneof, property, string } from 'fast-check'
import { createProtobufDecoder } from 'spanscore/engine'
import { describe, expect, it } from 'vitest'

import { encodeRequest, GatheredScores, originOf } from './gathered-scores.ts'
import type { GatheredRecords } from './gathered-scores.ts'

const resource = resourceFromAttributes({ 'service.name': 'größte', 'process.command_args': ['node', 'main'] })
const target = {
  traceId: '0af7651916cd43dd8448eb211c80319c',
  spanId: 'b7ad6b7169203331',
  traceFlags: 1,
  isRemote: true,
}
const scope = { name: 'spanscore', version: '0.1.0' }
const nothingDropped = { droppedAttributesCount: 0, droppedEventsCount: 0, droppedLinksCount: 0 }

const text = oneof(string({ unit: 'binary' }), string({ minLength: 100, maxLength: 300 }), string({ maxLength: 20 }))
const value = oneof(text, integer(), double({ noNaN: true }), boolean(), array(string()), array(integer()))
const attributesOf = dictionary(text, value, { maxKeys: 30, noNullPrototype: true })

type Attributes = Record<string, never>

/** The bytes that are sent for the event and the late span of one score. */
function written(attributes: Attributes, ofLateSpan: Attributes, time: HrTime, observedMs: number): GatheredRecords {
  const scores = new GatheredScores()
  const scorer = {
    id: 'tool_errors',
    version: '1',
    kind: 'code',
    range: [0, 1],
    better: 'higher',
    passAt: 1,
    level: 'run',
  } as const
  const score = { status: 'scored', value: 1, label: 'pass' } as const
  const evaluation = { scorer, runId: '', revision: 1, complete: true, durationMs: 1, score }
  const emission = { evaluation, target, endTime: time, lateSpanId: '00f067aa0ba902b7' }
  const prepared = { ...emission, attributes, ofLateSpan, verdictTimeMs: observedMs }
  scores.add(originOf(resource), { ...prepared, isEvent: true, isLateSpan: true })
  const both = scores.take()
  scores.add(originOf(resource), { ...prepared, isEvent: true, isLateSpan: false })
  scores.add(originOf(resource), { ...prepared, isEvent: false, isLateSpan: true })
  // Each is the same alone as together with the other one.
  expect(scores.take()).toEqual(both)
  expect(scores.take()).toEqual({ logRecords: [], spans: [] })
  return both
}

/** The same data, written by the SDK's own serializers. */
function official(attributes: Attributes, ofLateSpan: Attributes, time: HrTime, observedMs: number) {
  const logs = ProtobufLogsSerializer.serializeRequest([
    {
      hrTime: time,
      hrTimeObserved: [Math.trunc(observedMs / 1000), (observedMs % 1000) * 1e6],
      eventName: 'gen_ai.evaluation.result',
      severityNumber: 9,
      severityText: 'INFO',
      spanContext: target,
      resource,
      instrumentationScope: scope,
      attributes,
      droppedAttributesCount: 0,
    },
  ])
  const spans = ProtobufTraceSerializer.serializeRequest([
    {
      name: 'evaluate tool_errors',
      kind: SpanKind.INTERNAL,
      spanContext: () => ({ traceId: target.traceId, spanId: '00f067aa0ba902b7', traceFlags: 1 }),
      parentSpanContext: target,
      startTime: time,
      endTime: time,
      status: { code: 0 },
      attributes: { ...ofLateSpan, ...attributes },
      links: [],
      events: [],
      duration: [0, 0],
      ended: true,
      resource,
      instrumentationScope: scope,
      ...nothingDropped,
    },
  ])
  return { logs: logs ?? new Uint8Array(), spans: spans ?? new Uint8Array() }
}

describe('what is written for a run', () => {
  it('equals the output of the serializers of the SDK', async () => {
    const decode = await createProtobufDecoder()
    const read = (bytes: Uint8Array) => ({ ...decode(bytes), spanPlaces: undefined, logPlaces: undefined })
    const nanoseconds = integer({ min: 0, max: 999_999_999 })
    const seconds = integer({ min: 0, max: 4_000_000_000 })
    assert(
      property(
        attributesOf,
        attributesOf,
        seconds,
        nanoseconds,
        integer({ min: 0, max: 4e12 }),
        (made, more, ...times) => {
          const [second, nanosecond, observedMs] = times
          // If both have an attribute of the same name, the one of the event takes precedence.
          const of = [
            made,
            {
              ...more,
              ...Object.fromEntries(
                Object.keys(made)
                  .slice(0, 3)
                  .map((name) => [name, 1]),
              ),
            },
          ]
          const [attributes, ofLateSpan] = of as [Attributes, Attributes]
          const ours = written(attributes, ofLateSpan, [second, nanosecond], observedMs)
          const theirs = official(attributes, ofLateSpan, [second, nanosecond], observedMs)
          expect(read(encodeRequest(ours.logRecords))).toEqual(read(theirs.logs))
          expect(read(encodeRequest(ours.spans))).toEqual(read(theirs.spans))
        },
      ),
      { numRuns: 200 },
    )
  })

  it('keeps 64-bit integers exact, and flags that the parent is remote', () => {
    const time: HrTime = [1_700_000_000, 123_456_789]
    const { logRecords, spans } = written({}, {}, time, 1_700_000_000_123)
    const nanoseconds = Buffer.alloc(8)
    nanoseconds.writeBigUInt64LE(1_700_000_000_123_456_789n)
    expect(Buffer.from(logRecords[0]?.bytes ?? []).indexOf(nanoseconds)).toBe(1)
    const flags = Buffer.of(0x85, 0x01, 0x01, 0x03, 0, 0)
    expect(Buffer.from(spans[0]?.bytes ?? []).subarray(-6)).toEqual(flags)
  })

  it('is grouped by resource and scope, in its order', async () => {
    const decode = await createProtobufDecoder()
    const one = written({}, {}, [1, 0], 1).spans
    const two = written({}, {}, [2, 0], 1).spans
    const { spans } = decode(encodeRequest([...one, ...one, ...two, ...one]))
    expect(spans.map(({ startTimeMs }) => startTimeMs)).toEqual([1000, 1000, 2000, 1000])
    expect(new Set(spans.map(({ scope: { name, version } }) => `${name} ${version}`))).toEqual(
      new Set(['spanscore 0.1.0']),
    )
  })
})
