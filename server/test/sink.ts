import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gunzipSync } from 'node:zlib'

import { createProtobufDecoder, readOtlpJson } from 'spanscore/engine'
import type { SourceLog, SourceSpan } from 'spanscore/engine'

/** A backend that keeps what it receives, and that a test can make unavailable or let refuse requests. */
export interface Sink extends AsyncDisposable {
  readonly url: string
  readonly logs: SourceLog[]
  readonly spans: SourceSpan[]
  /** Requests with spans or log records. */
  scoreRequests: number
  readonly requests: { readonly path: string; readonly headers: Record<string, unknown>; readonly body: Buffer }[]
  /** Answers with this status; 0 closes the connection. */
  status: number
  /** The body of the answers to log requests, such as a partial success. */
  partial: Buffer | undefined
}

/** How a sink handles requests. */
export interface SinkOptions {
  /** Whether requests are decoded and kept. @default true */
  readonly keeps?: boolean
  /** Where requests with metrics are forwarded, instead of being kept. */
  readonly metricsTo?: string
  /** Called with the log records of each request. */
  readonly onLogs?: (logs: readonly SourceLog[]) => void
}

export async function createSink({ keeps = true, metricsTo, onLogs }: SinkOptions = {}): Promise<Sink> {
  const decode = await createProtobufDecoder()
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      if (sink.status === 0) {
        request.socket.destroy()
        return
      }
      const wire = Buffer.concat(chunks)
      const path = request.url ?? ''
      if (metricsTo !== undefined && path === '/v1/metrics' && sink.status === 200) {
        fetch(metricsTo, { method: 'POST', headers: { 'content-type': 'application/x-protobuf' }, body: wire }).then(
          ({ status }) => response.writeHead(status).end(),
          () => response.writeHead(503).end(),
        )
        return
      }
      if (keeps) sink.requests.push({ path, headers: request.headers, body: wire })
      if (path !== '/v1/metrics') sink.scoreRequests += 1
      if (keeps && sink.status === 200 && path !== '/v1/metrics' && sink.partial === undefined) {
        const body = request.headers['content-encoding'] === 'gzip' ? gunzipSync(wire) : wire
        const isJson = request.headers['content-type']?.includes('json') === true
        const batch = isJson ? readOtlpJson(JSON.parse(body.toString())) : decode(body)
        sink.logs.push(...(batch?.logs ?? []))
        onLogs?.(batch?.logs ?? [])
        sink.spans.push(...(batch?.spans ?? []))
      }
      response.writeHead(sink.status, { 'content-type': 'application/x-protobuf' })
      response.end(path === '/v1/logs' ? sink.partial : undefined)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port: bound } = server.address() as AddressInfo
  const sink: Sink = {
    url: `http://127.0.0.1:${bound}`,
    logs: [],
    spans: [],
    scoreRequests: 0,
    requests: [],
    status: 200,
    partial: undefined,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return sink
}
