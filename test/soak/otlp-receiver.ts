// oxlint-disable unicorn/require-post-message-target-origin -- threads have no origin
/** The far end of the soak, in a thread of its own: takes OTLP/JSON over HTTP and counts what is in it. */
import { createServer } from 'node:http'
import { parentPort } from 'node:worker_threads'

interface TraceRequest {
  readonly resourceSpans?: readonly { readonly scopeSpans: readonly { readonly spans: readonly unknown[] }[] }[]
}
interface LogRequest {
  readonly resourceLogs?: readonly { readonly scopeLogs: readonly { readonly logRecords: readonly unknown[] }[] }[]
}

let [spans, events, metricRequests] = [0, 0, 0]

function count(path: string, body: string): void {
  if (path === '/v1/metrics') metricRequests += 1
  if (path === '/v1/traces') {
    const { resourceSpans = [] } = JSON.parse(body) as TraceRequest
    for (const { scopeSpans } of resourceSpans) for (const scope of scopeSpans) spans += scope.spans.length
  }
  if (path === '/v1/logs') {
    const { resourceLogs = [] } = JSON.parse(body) as LogRequest
    for (const { scopeLogs } of resourceLogs) for (const scope of scopeLogs) events += scope.logRecords.length
  }
}

const server = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    count(request.url ?? '', Buffer.concat(chunks).toString())
    response.setHeader('content-type', 'application/json').end('{}')
  })
})
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  parentPort?.postMessage(`http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`)
})
parentPort?.on('message', () => parentPort?.postMessage({ spans, events, metricRequests }))
