import type { Attributes } from '@opentelemetry/api'
import { ROOT_CONTEXT, trace } from '@opentelemetry/api'
import { createScorer, createToolCallAccuracyScorerCode } from 'spanscore/scorers/prebuilt'
import type { ScoringOptions } from 'spanscore'

import type { FloorOptions } from './floor.ts'
import { loadRecording, replay } from './replay.ts'
import type { Replay } from './replay.ts'

/** One kind of traffic, and what may be added to its cost. */
export interface HostCase {
  readonly title: string
  /** The largest allowed ratio to the same provider without spanscore, or the most microseconds that a unit may cost more. */
  readonly goal: { readonly ratio: number } | { readonly addedUs: number }
  /** One unit of traffic. */
  readonly play: () => Replay
  readonly spansPerUnit: number
  readonly options: () => ScoringOptions
  /** What no implementation can avoid for this traffic. */
  readonly floor: FloorOptions
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
    title: 'request and its query: two ordinary spans',
    goal: { ratio: 1.03 },
    play: () => request,
    spansPerUnit: 2,
    options: () => ({ scorers: codeScorers() }),
    floor: { scores: false, signals: false },
    signals: false,
  },
  'sampled-out': {
    title: 'agent run that no scorer chose',
    goal: { ratio: 1.08 },
    play: () => replay(RECORDED),
    spansPerUnit: RECORDED.length,
    options: () => ({ scorers: codeScorers(), sample: 0 }),
    floor: { scores: false, signals: false },
    signals: false,
  },
  scored: {
    title: 'agent run, two code scorers',
    goal: { addedUs: 8 },
    play: () => replay(RECORDED),
    spansPerUnit: RECORDED.length,
    options: () => ({ scorers: codeScorers() }),
    floor: { scores: true, signals: false },
    signals: false,
  },
  emitting: {
    title: 'agent run, two code scorers, events and metrics',
    goal: { addedUs: 15 },
    play: () => replay(RECORDED),
    spansPerUnit: RECORDED.length,
    options: () => ({ scorers: codeScorers() }),
    floor: { scores: true, signals: true },
    signals: true,
  },
}
