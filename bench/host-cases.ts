import type { Attributes } from '@opentelemetry/api'
import { ROOT_CONTEXT, trace } from '@opentelemetry/api'
import { createScorer, createToolCallAccuracyScorerCode } from 'spanscore/scorers/prebuilt'
import type { ScoringOptions } from 'spanscore'

import type { SpanProcessor } from '@opentelemetry/sdk-trace-base'

import { BareRecords } from './bare-records.ts'
import { BareScores } from './bare-scores.ts'
import { loadRecording, replay } from './replay.ts'
import type { Replay } from './replay.ts'

/** One kind of traffic, and what may be added to its cost. */
export interface HostCase {
  readonly title: string
  /** The largest allowed ratio to the same provider without spanscore; absent if there is no goal. */
  readonly atMost?: number
  /** One unit of traffic. */
  readonly play: () => Replay
  readonly spansPerUnit: number
  /** The options of spanscore; absent if a bare processor is measured instead. */
  readonly options?: () => ScoringOptions
  /** A processor of a few lines that is measured instead of spanscore. */
  readonly bare?: () => SpanProcessor
  /** Whether the application has logger and meter providers. */
  readonly signals: boolean
}

const HTTP: Attributes = {
  'http.request.method': 'GET',
  'url.path': '/api/orders/42',
  'url.scheme': 'https',
  'server.address': 'shop.example',
  'server.port': 443,
  'http.route': '/api/orders/:id',
  'http.response.status_code': 200,
  'network.protocol.version': '1.1',
  'user_agent.original': 'Mozilla/5.0',
  'client.address': '192.0.2.1',
}
const DATABASE: Attributes = {
  'db.system.name': 'postgresql',
  'db.namespace': 'shop',
  'db.operation.name': 'SELECT',
  'db.collection.name': 'orders',
  'db.query.text': 'SELECT * FROM orders WHERE id = $1',
  'db.query.summary': 'SELECT orders',
  'server.address': 'db.internal',
  'server.port': 5432,
  'network.transport': 'tcp',
  'db.response.returned_rows': 1,
}

/** A request and the query that it makes. */
const request: Replay = (tracerOf) => {
  const server = tracerOf('@opentelemetry/instrumentation-http').startSpan(
    'GET /api/orders/:id',
    { kind: 1, attributes: HTTP },
    ROOT_CONTEXT,
  )
  tracerOf('@opentelemetry/instrumentation-pg')
    .startSpan('SELECT orders', { kind: 2, attributes: DATABASE }, trace.setSpan(ROOT_CONTEXT, server))
    .end()
  server.end()
}

/** Two code scorers, as an application may have them. */
export function codeScorers(): ScoringOptions['scorers'] {
  return [
    createToolCallAccuracyScorerCode({ expectedTool: 'weather-tool' }),
    createScorer({
      id: 'answered',
      inline: true,
      description: 'Whether there is an answer.',
      version: '1',
      needs: ['output'],
    }).generateScore(({ run }) => (run.output === undefined || run.output === '' ? 0 : 1)),
  ]
}

/** Six spans, 4 KB of messages, tools and results: the AI SDK's own telemetry. */
export const RECORDED = loadRecording('ai-7.0.173-otel', '01-weather.generateText')

/** The traffic that is measured. */
export const HOST_CASES: Readonly<Record<string, HostCase>> = {
  ordinary: {
    title: 'ordinary spans (HTTP, database; 10 attributes)',
    atMost: 1.05,
    play: () => request,
    spansPerUnit: 2,
    options: () => ({ scorers: codeScorers() }),
    signals: false,
  },
  'sampled-out': {
    title: 'agent runs, all scorers sampled out',
    atMost: 1.08,
    play: () => replay(RECORDED),
    spansPerUnit: RECORDED.length,
    options: () => ({ scorers: codeScorers(), sample: 0 }),
    signals: false,
  },
  scored: {
    title: 'agent runs, two code scorers, spans only',
    atMost: 1.4,
    play: () => replay(RECORDED),
    spansPerUnit: RECORDED.length,
    options: () => ({ scorers: codeScorers() }),
    signals: false,
  },
  emitting: {
    title: 'agent runs, two code scorers, events and metrics',
    atMost: 2,
    play: () => replay(RECORDED),
    spansPerUnit: RECORDED.length,
    options: () => ({ scorers: codeScorers() }),
    signals: true,
  },
  'bare-ordinary': {
    title: 'ordinary spans, a processor that does nothing with them',
    play: () => request,
    spansPerUnit: 2,
    bare: () => new BareScores(false),
    signals: false,
  },
  'bare-records': {
    title: 'ordinary spans, a processor that keeps the ids of open spans in a Map',
    play: () => request,
    spansPerUnit: 2,
    bare: () => new BareRecords(),
    signals: false,
  },
  'bare-scored': {
    title: 'agent runs, only the calls into the SDK that write two scores to spans',
    play: () => replay(RECORDED),
    spansPerUnit: RECORDED.length,
    bare: () => new BareScores(false),
    signals: false,
  },
  'bare-emitting': {
    title: 'agent runs, only the calls into the SDK that write two scores, events and metrics',
    play: () => replay(RECORDED),
    spansPerUnit: RECORDED.length,
    bare: () => new BareScores(true),
    signals: true,
  },
}
