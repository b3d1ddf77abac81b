import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { loadLibrary } from '../../test/corpus/load.ts'
import { buildRuns } from '../runs/build-runs.ts'
import { readTraceJson } from './trace-json.ts'

/** What a real Jaeger 2.13 gave for the recording below: by its API (as its page downloads it), and by its API version 3. */
const jaeger: { api: { data: unknown[] }; apiV3: { result: unknown } } = JSON.parse(
  readFileSync(join(import.meta.dirname, '../../test/fixtures/jaeger-2.13-trace.json'), 'utf8'),
)
const recorded = loadLibrary('ai-6.0.326').find((scenario) => scenario.id === '01-weather.generateText')
const request = structuredClone(recorded?.traces) as { resourceSpans: unknown[] }

/** The runs of a document; Jaeger keeps microseconds, and attributes in another order. */
function runsOf(document: unknown): unknown {
  const { batch, unread } = readTraceJson(document)
  expect(unread).toBeUndefined()
  expect(batch.invalid).toBe(0)
  const runs = buildRuns(batch.spans)
  return JSON.parse(JSON.stringify(runs), (key, value: unknown) =>
    key.endsWith('TimeMs') ? Math.round(Number(value)) : value,
  )
}

/** The bytes of ids in base64, as printers of plain protobuf write them. */
function withBase64Ids(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value), (key, item: unknown) =>
    /^(traceId|spanId|parentSpanId)$/.test(key) ? Buffer.from(String(item), 'hex').toString('base64') : item,
  )
}

const unread = (document: unknown): string | undefined => readTraceJson(document).unread

describe('JSON documents of traces', () => {
  it('reads a list of resource spans as a request, and reports a metrics request', () => {
    expect(runsOf(request.resourceSpans)).toEqual(runsOf(request))
    expect(readTraceJson({ resourceMetrics: [] })).toMatchObject({ isMetrics: true })
  })

  it('reads the same runs from the form of Jaeger', () => {
    const expected = runsOf(request)
    expect(expected).toHaveLength(1)
    expect(runsOf(jaeger.api)).toEqual(expected)
    expect(runsOf(jaeger.api.data[0])).toEqual(expected)
    expect(runsOf(jaeger.apiV3)).toEqual(expected)
  })

  it('gives the same runs for the forms of Tempo, and for lists of any form', () => {
    const expected = runsOf(request)
    const batches = withBase64Ids(request.resourceSpans)
    expect(runsOf({ batches })).toEqual(expected)
    expect(runsOf({ trace: { resourceSpans: batches }, metrics: {} })).toEqual(expected)
    expect(runsOf({ trace: { batches } })).toEqual(expected)
    const older = JSON.parse(
      JSON.stringify({ batches })
        .replaceAll('"scopeSpans"', '"instrumentationLibrarySpans"')
        .replaceAll('"scope"', '"instrumentationLibrary"'),
    )
    expect(runsOf(older)).toEqual(expected)
    expect(runsOf([request])).toEqual(expected)
    expect(runsOf([jaeger.api, { batches: [] }])).toEqual(expected)
  })

  it('reads the status, kind, events and numbers of a Jaeger span, and ids without leading zeros', () => {
    const span = {
      traceID: '5f527e00a951255',
      spanID: 'ab',
      operationName: 'execute_tool x',
      references: [
        { refType: 'FOLLOWS_FROM', traceID: '5f527e00a951255', spanID: 'ff' },
        { refType: 'CHILD_OF', traceID: '5f527e00a951255', spanID: 'cd' },
      ],
      startTime: 1_700_000_000_000_001,
      duration: 1500,
      tags: [
        { key: 'span.kind', type: 'string', value: 'client' },
        { key: 'otel.library.name', type: 'string', value: 'tools' },
        { key: 'otel.status_code', type: 'string', value: 'ERROR' },
        { key: 'otel.status_description', type: 'string', value: 'broken' },
        { key: 'error', type: 'bool', value: true },
        { key: 'count', type: 'int64', value: '7' },
        { key: 'names', type: 'string', value: '["a","b"]' },
        { key: 'messages', type: 'string', value: '[{"role":"user"}]' },
        { key: '__proto__', type: 'string', value: 'polluted' },
      ],
      logs: [
        {
          timestamp: 1_700_000_000_000_500,
          fields: [
            { key: 'event', value: 'exception' },
            { key: 'code', value: 1 },
          ],
        },
      ],
      processID: 'p1',
    }
    const processes = { p1: { serviceName: 'shop', tags: [{ key: 'host', type: 'string', value: 'a' }] } }
    const { batch } = readTraceJson({
      data: [{ traceID: '5f527e00a951255', spans: [span, { traceID: 'no' }], processes }],
    })
    expect(batch.invalid).toBe(1)
    expect(batch.spans).toEqual([
      {
        traceId: '000000000000000005f527e00a951255',
        spanId: '00000000000000ab',
        parentSpanId: '00000000000000cd',
        name: 'execute_tool x',
        kind: 3,
        scope: { name: 'tools' },
        attributes: { count: 7, names: ['a', 'b'], messages: '[{"role":"user"}]', ['__proto__']: 'polluted' },
        events: [{ name: 'exception', timeMs: 1_700_000_000_000.5, attributes: { code: 1 } }],
        status: { code: 'error', message: 'broken' },
        startTimeMs: 1_700_000_000_000.001,
        endTimeMs: 1_700_000_000_001.501,
        resource: { host: 'a', 'service.name': 'shop' },
        droppedAttributesCount: 0,
      },
    ])
  })

  it("reads the file of GitHub Copilot Chat, with the JavaScript SDK's spans, and ignores its log records and metrics", () => {
    const span = {
      resource: { attributes: { 'service.name': 'copilot-chat' } },
      instrumentationScope: { name: 'copilot-chat', version: '0.40.0' },
      traceId: 'a'.repeat(32),
      spanId: 'b'.repeat(16),
      parentSpanId: 'c'.repeat(16),
      name: 'chat gpt-5',
      kind: 2,
      startTime: [1_700_000_000, 500_000],
      endTime: [1_700_000_001, 0],
      status: { code: 2, message: 'broken' },
      attributes: { 'gen_ai.operation.name': 'chat' },
      events: [{ name: 'exception', time: [1_700_000_000, 0], attributes: { code: 1 } }],
      droppedAttributesCount: 0,
    }
    const others = [
      { hrTime: [1, 0], hrTimeObserved: [1, 0], attributes: {} },
      { resource: {}, scopeMetrics: [] },
    ]
    const { batch, unread: form } = readTraceJson([span, ...others])
    expect(form).toBeUndefined()
    expect(batch.spans).toEqual([
      {
        traceId: span.traceId,
        spanId: span.spanId,
        parentSpanId: span.parentSpanId,
        name: 'chat gpt-5',
        kind: 3,
        scope: span.instrumentationScope,
        attributes: span.attributes,
        events: [{ name: 'exception', timeMs: 1_700_000_000_000, attributes: { code: 1 } }],
        status: { code: 'error', message: 'broken' },
        startTimeMs: 1_700_000_000_000.5,
        endTimeMs: 1_700_000_001_000,
        resource: span.resource.attributes,
        droppedAttributesCount: 0,
      },
    ])
  })

  it('names an unsupported form, and reads the other parts', () => {
    expect(unread([{ traceId: 'a', id: 'b', name: 'get', timestamp: 1, duration: 2 }])).toBe(
      'looks like Zipkin v2, which is not supported',
    )
    const span = { traceId: 'a', id: 'b', name: 'get', timestamp: 1, instrumentationScope: { name: 'x' } }
    expect(unread(span)).toBe('looks like the console output of OpenTelemetry for JavaScript, which is not supported')
    const phoenix = { name: 'x', context: { span_id: 'a' }, span_kind: 'LLM', parent_id: null, start_time: 'now' }
    expect(unread(phoenix)).toBe('looks like Phoenix, which is not supported')
    expect(unread({ info: { trace_id: 'tr-1' }, data: { spans: [] } })).toBe(
      'looks like MLflow, which is not supported',
    )
    expect(unread({ hits: { hits: [] } })).toBe('looks like Elasticsearch, which is not supported')
    expect(unread({ log: '{}', stream: 'stdout', time: 'now' })).toMatch(/^looks like a log of containers/)
    expect(unread({ traceEvents: [] })).toBe('looks like a Chrome trace, which is not supported')
    expect(unread([{ ph: 'X', ts: 1, pid: 1 }])).toBe('looks like a Chrome trace, which is not supported')
    expect(unread({ trace: { id: 'x' }, observations: [] })).toBe("looks like Langfuse's API, which is not supported")
    expect(unread({ data: [{ id: 'x', observations: [] }] })).toBe("looks like Langfuse's API, which is not supported")
    expect(unread({ what: 1 })).toMatch(/^JSON in an unsupported format/)
    expect(unread('text')).toMatch(/^JSON in an unsupported format/)
    const mixed = readTraceJson([{ what: 1 }, request])
    expect(mixed.unread).toBeDefined()
    expect(mixed.batch.spans.length).toBeGreaterThan(0)
    // An answer without results is one.
    expect(unread({ data: [], errors: null })).toBeUndefined()
  })
})
