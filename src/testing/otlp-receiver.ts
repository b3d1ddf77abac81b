import { createServer } from 'node:http'
import type { IncomingMessage } from 'node:http'
import { createGunzip } from 'node:zlib'

import { readOtlpJson } from '../otlp/json.ts'
import type { SourceLog, SourceSpan } from '../spans/source-span.ts'
import { listenOnLoopback } from './listen-on-loopback.ts'
import { readOtlpMetrics } from './otlp-metrics.ts'
import type { ReceivedMetric } from './otlp-metrics.ts'

/** A received span. */
export type ReceivedSpan = SourceSpan

/** A received log record. */
export type ReceivedLog = SourceLog

/** The contents of one export request. */
export interface ReceivedBatch {
  /** In the order in which they arrived. */
  readonly spans: readonly ReceivedSpan[]
  /** In the order in which they arrived. */
  readonly logs: readonly ReceivedLog[]
  /** One for each data point. */
  readonly metrics: readonly ReceivedMetric[]
}

/** A running OTLP receiver that keeps everything it receives. */
export interface OtlpReceiver extends AsyncDisposable {
  /** `http://127.0.0.1:<port>`; exporters append `/v1/traces`, `/v1/logs`, `/v1/metrics`. */
  readonly url: string
  /** All spans that have arrived. */
  readonly spans: readonly ReceivedSpan[]
  /** All log records that have arrived. */
  readonly logs: readonly ReceivedLog[]
  /** Every data point of every export, in the order of arrival. The last point of a cumulative counter is its total. */
  readonly metrics: readonly ReceivedMetric[]
  /** Stops the server and closes all connections. */
  close(): Promise<void>
}

/** Options of `createOtlpReceiver`. */
export interface OtlpReceiverOptions {
  /** TCP port on the loopback interface. @default one that is free */
  readonly port?: number
  /** Called with each request that was accepted. */
  readonly onBatch?: (batch: ReceivedBatch) => void
  /** HTTP status to answer with, to test how exporters handle a backend that refuses data. @default 200 */
  readonly status?: (signal: 'traces' | 'logs' | 'metrics') => number
}

/**
 * Starts an OTLP/HTTP receiver on loopback for tests and demos: JSON, plain or gzip, as the `exporter-*-otlp-http` packages
 * send it. It shows what really leaves an application.
 *
 * @example
 * ```ts
 * import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
 * import { createOtlpReceiver } from 'spanscore/testing'
 *
 * await using receiver = await createOtlpReceiver()
 * const exporter = new OTLPTraceExporter({ url: `${receiver.url}/v1/traces` })
 * // … run the application, flush …
 * console.log(receiver.spans.map((span) => span.attributes['spanscore.tool_call_accuracy.score']))
 * await exporter.shutdown()
 * ```
 */
export async function createOtlpReceiver(options: OtlpReceiverOptions = {}): Promise<OtlpReceiver> {
  const spans: ReceivedSpan[] = []
  const logs: ReceivedLog[] = []
  const metrics: ReceivedMetric[] = []

  const receive = async (request: IncomingMessage): Promise<Reply> => {
    const signal = signals.find((name) => request.url === `/v1/${name}`)
    if (signal === undefined)
      return { status: 404, message: `expected /v1/traces, /v1/logs or /v1/metrics, got ${request.url}` }
    const type = request.headers['content-type']
    if (type?.includes('json') !== true)
      return { status: 415, message: `expected OTLP as application/json, got ${type}` }
    const value: unknown = JSON.parse(await readBody(request))
    const status = options.status?.(signal) ?? 200
    if (status >= 300) return { status, message: 'refused, because the receiver was created with this status' }
    const { spans: newSpans, logs: newLogs } = readOtlpJson(value) ?? { spans: [], logs: [] }
    const batch = { spans: newSpans, logs: newLogs, metrics: readOtlpMetrics(value) }
    spans.push(...batch.spans)
    logs.push(...batch.logs)
    metrics.push(...batch.metrics)
    options.onBatch?.(batch)
    return { status }
  }

  const server = createServer((request, response) => {
    void receive(request)
      .catch((error: unknown): Reply => ({ status: 400, message: String(error) }))
      .then(({ status, message }) => {
        const body = JSON.stringify(message === undefined ? {} : { message })
        response.writeHead(status, { 'content-type': 'application/json' }).end(body)
      })
  })
  const { origin, ...listening } = await listenOnLoopback(server, options.port ?? 0)
  return { url: origin, spans, logs, metrics, ...listening }
}

const signals = ['traces', 'logs', 'metrics'] as const

interface Reply {
  readonly status: number
  readonly message?: string
}

async function readBody(request: IncomingMessage): Promise<string> {
  const compressed = request.headers['content-encoding'] === 'gzip'
  let text = ''
  for await (const piece of (compressed ? request.pipe(createGunzip()) : request).setEncoding('utf8'))
    text += String(piece)
  return text
}
