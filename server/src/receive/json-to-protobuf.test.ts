import { assert, double, integer, property } from 'fast-check'
import { createProtobufDecoder, readOtlpJson } from 'spanscore/engine'
import type { SourceLog, SourceSpan } from 'spanscore/engine'
import { describe, expect, it } from 'vitest'

import { libraryNames, loadLibrary } from '../../../test/corpus/load.ts'
import { parseJsonRequest, toProtobuf } from './json-to-protobuf.ts'

const decode = await createProtobufDecoder()

const read = (spans: readonly SourceSpan[], logs: readonly SourceLog[] = []) =>
  decode(toProtobuf({ spans: [...spans], logs: [...logs], invalid: 0 }))

const of = (name: string, ...spans: unknown[]) => ({
  resource: { attributes: [{ key: 'service.name', value: { stringValue: name } }] },
  scopeSpans: [{ scope: { name: 'x', version: '1' }, spans }],
})

const SPAN: SourceSpan = {
  traceId: '0af7651916cd43dd8448eb211c80319c',
  spanId: 'b7ad6b7169203331',
  name: 'x',
  kind: 1,
  scope: { name: 'x' },
  attributes: {},
  events: [],
  status: { code: 'unset' },
  startTimeMs: 0,
  endTimeMs: 0,
  resource: {},
  droppedAttributesCount: 0,
}

describe('what is read of a request in JSON and written in protobuf', () => {
  it('is equal, for every span and log record of the recordings', () => {
    let count = 0
    for (const library of libraryNames()) {
      for (const scenario of loadLibrary(library)) {
        // They are read for themselves, because a span that has been looked at remembers what was parsed of it.
        const spans = readOtlpJson(scenario.traces)?.spans ?? []
        const logs = readOtlpJson(scenario.logs)?.logs ?? []
        const again = read(spans, logs)
        expect(again.spans, `${library}/${scenario.id}`).toEqual(spans)
        expect(again.logs, `${library}/${scenario.id}`).toEqual(logs)
        count += spans.length + logs.length
      }
    }
    expect(count).toBeGreaterThan(1000)
  })

  it('is equal for values of every kind, and keeps the order of spans of several services', () => {
    const values = {
      a: { intValue: '9223372036854775807' },
      b: { doubleValue: 'NaN' },
      c: { doubleValue: 1e300 },
      d: { intValue: '-5' },
      e: { bytesValue: 'AAEC' },
      f: {
        kvlistValue: {
          values: [
            { key: 'none', value: {} },
            { key: '__proto__', value: { boolValue: true } },
          ],
        },
      },
      g: { arrayValue: { values: [{}, { stringValue: 'Köln ☔' }, { arrayValue: { values: [{ intValue: 1 }] } }] } },
    }
    const span = (index: number) => ({
      traceId: '0af7651916cd43dd8448eb211c80319c',
      spanId: index.toString(16).padStart(16, '0'),
      name: `span ${index}`,
      flags: index === 1 ? 0x301 : 1,
      startTimeUnixNano: '1700000000123456789',
      attributes: Object.entries(values).map(([key, value]) => ({ key, value })),
      status: { code: 2, message: 'boom' },
    })
    const request = { resourceSpans: [of('one', span(1), span(2)), of('two', span(3)), of('one', span(4))] }
    const body = Buffer.from(JSON.stringify(request))
    expect(decode(toProtobuf(parseJsonRequest(body))).spans).toEqual(readOtlpJson(request)?.spans)
  })

  it('keeps every time to the full precision of its number', () => {
    const nanoseconds = double({ min: 0, max: 1.8e19, noNaN: true }).map((each) => Math.round(each))
    assert(
      property(nanoseconds, integer({ min: 0, max: 2 ** 31 }), (start, more) => {
        const [startTimeMs, endTimeMs] = [start / 1e6, (start + more) / 1e6]
        const [again] = read([{ ...SPAN, startTimeMs, endTimeMs }]).spans
        expect([again?.startTimeMs, again?.endTimeMs]).toEqual([startTimeMs, endTimeMs || startTimeMs])
      }),
    )
  })
})
