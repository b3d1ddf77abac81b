import { createServer } from 'node:http'

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
 * Answers `/health` and `/ready` in JSON.
 *
 * @param port 0 means any free port
 */
export async function serveHealth(
  host: string,
  port: number,
  answers: { readonly health: () => HealthAnswer; readonly ready: () => HealthAnswer },
): Promise<HealthServer> {
  const server = createServer((request, response) => {
    const { status, body } = answerTo(request.url, answers)
    response.writeHead(status, { 'content-type': 'application/json' })
    response.end(JSON.stringify(body))
  })
  return {
    port: await listen(server, host, port, '--http-port'),
    close: () => void server.close(),
  }
}

function answerTo(path: string | undefined, { health, ready }: Parameters<typeof serveHealth>[2]): HealthAnswer {
  if (path === '/health') return health()
  return path === '/ready' ? ready() : { status: 404, body: { status: 'not found' } }
}
