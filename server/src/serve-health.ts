import { createServer } from 'node:http'
import type { RequestListener } from 'node:http'

import { listen } from './listen.ts'

/** An answer about the state of the process. */
export interface HealthAnswer {
  readonly status: number
  readonly body: unknown
}

/** The server for health and readiness. */
export interface HealthServer {
  readonly port: number
  close(): void
}

/**
 * Answers `/health` and `/ready` in JSON, and `/metrics` for Prometheus.
 *
 * @param port 0 means any free port
 * @param option the option of the command line that gives the port
 */
export async function serveHealth(
  host: string,
  port: number,
  answers: {
    readonly health: () => HealthAnswer
    readonly ready: () => HealthAnswer
    readonly metrics: RequestListener
  },
  option = '--http-port',
): Promise<HealthServer> {
  const server = createServer((request, response) => {
    if (request.url === '/metrics') return answers.metrics(request, response)
    const { status, body } = answerTo(request.url, answers)
    response.writeHead(status, { 'content-type': 'application/json' })
    response.end(JSON.stringify(body))
  })
  return {
    port: await listen(server, host, port, option),
    close: () => void server.close(),
  }
}

function answerTo(
  path: string | undefined,
  { health, ready }: Pick<Parameters<typeof serveHealth>[2], 'health' | 'ready'>,
): HealthAnswer {
  if (path === '/health') return health()
  return path === '/ready' ? ready() : { status: 404, body: { status: 'not found' } }
}
