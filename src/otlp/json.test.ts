import { describe, expect, it } from 'vitest'
import { readOtlpJson } from './json.ts'

const TRACE = '0af7651916cd43dd8448eb211c80319c'
const SPAN = 'b7ad6b7169203331'

function request(span: object): unknown {
  return {
    resourceSpans: [{ scopeSpans: [{ scope: { name: 'x' }, spans: [{ traceId: TRACE, spanId: SPAN, ...span }] }] }],
  }
}

function attributesOf(values: Record<string, unknown>): Readonly<Record<string, unknown>> {
  const attributes = Object.entries(values).map(([key, value]) => ({ key, value }))
  return readOtlpJson(request({ attributes }))?.spans[0]?.attributes ?? {}
}

describe('OTLP in JSON', () => {
  it('reads values of every kind, integers as numbers or text', () => {
    const list = { arrayValue: { values: [{ intValue: '1' }, {}, { doubleValue: 1.5 }] } }
    const object = {
      kvlistValue: {
        values: [
          { key: 'city', value: { stringValue: 'Paris' } },
          { key: 'none', value: {} },
        ],
      },
    }
    expect(
      attributesOf({
        text: { stringValue: '' },
        whole: { intValue: 7 },
        wholeAsText: { intValue: '7' },
        large: { intValue: '9223372036854775807' },
        flag: { boolValue: false },
        infinite: { doubleValue: 'Infinity' },
        bytes: { bytesValue: 'AAEC' },
        list,
        object,
      }),
    ).toEqual({
      text: '',
      whole: 7,
      wholeAsText: 7,
      large: '9223372036854775807',
      flag: false,
      infinite: Number.POSITIVE_INFINITY,
      bytes: 'AAEC',
      list: [1, null, 1.5],
      object: { city: 'Paris', none: null },
    })
  })

  it('treats an empty value as a missing attribute', () => {
    expect(attributesOf({ gone: {}, there: { intValue: 1 } })).toEqual({ there: 1 })
  })

  it('keeps a key that would change what an object inherits as a plain key', () => {
    const attributes = attributesOf({ ['__proto__']: { stringValue: 'polluted' }, constructor: { stringValue: 'x' } })
    expect(Object.getPrototypeOf(attributes)).toBe(Object.prototype)
    expect(Object.keys(attributes)).toEqual(['__proto__', 'constructor'])
    expect('polluted' in {}).toBe(false)
  })

  it('reads ids in upper case and in base64, and parents of zeros as none', () => {
    const read = readOtlpJson(
      request({
        traceId: TRACE.toUpperCase(),
        spanId: Buffer.from(SPAN, 'hex').toString('base64'),
        parentSpanId: '0000000000000000',
      }),
    )
    expect(read?.spans[0]).toMatchObject({ traceId: TRACE, spanId: SPAN })
    expect(read?.spans[0]).not.toHaveProperty('parentSpanId')
  })

  it('counts spans without valid ids', () => {
    expect(readOtlpJson(request({ spanId: 'zz' }))).toMatchObject({ spans: [], invalid: 1 })
    expect(readOtlpJson(request({ traceId: '0'.repeat(32) }))).toMatchObject({ spans: [], invalid: 1 })
  })

  it('accepts names instead of numbers in kind and status, and recognises a remote parent', () => {
    const read = readOtlpJson(
      request({ kind: 'SPAN_KIND_SERVER', status: { code: 'STATUS_CODE_ERROR' }, flags: 0x301 }),
    )
    expect(read?.spans[0]).toMatchObject({ kind: 2, status: { code: 'error' }, parentIsRemote: true })
  })

  it('reads the name of a log record from its field or its attribute', () => {
    const record = { traceId: TRACE, spanId: SPAN, timeUnixNano: '1700000000000000000' }
    const named = { ...record, eventName: 'gen_ai.choice', body: { kvlistValue: { values: [] } } }
    const older = { ...record, attributes: [{ key: 'event.name', value: { stringValue: 'gen_ai.user.message' } }] }
    const read = readOtlpJson({ resourceLogs: [{ scopeLogs: [{ logRecords: [named, older] }] }] })
    expect(read?.logs.map((log) => log.eventName)).toEqual(['gen_ai.choice', 'gen_ai.user.message'])
    expect(read?.logs[0]).toMatchObject({ body: {}, timeMs: 1_700_000_000_000 })
  })

  it('says why a value is not a request', () => {
    for (const value of [null, 1, 'x', {}, { data: [] }, [{ resourceSpans: [] }]])
      expect(readOtlpJson(value)).toBeUndefined()
    expect(readOtlpJson({ resourceMetrics: [] })).toMatchObject({ spans: [], logs: [] })
  })
})
