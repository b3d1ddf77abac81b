/** A proxy and far ends behind it, whose names only the proxy knows. */
import { once } from 'node:events'
import { createServer, request as httpRequest } from 'node:http'
import type { IncomingMessage, RequestListener } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { ServerOptions } from 'node:https'
import { connect as connectTo } from 'node:net'
import type { AddressInfo, Server } from 'node:net'

async function portOf(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

/** A far end that remembers the paths of its requests. */
export async function startFar(tls?: ServerOptions, status = 200) {
  const paths: string[] = []
  const answer: RequestListener = (request, response) => {
    paths.push(request.url ?? '')
    request.resume().once('end', () => response.writeHead(status).end())
  }
  const server = tls === undefined ? createServer(answer) : createSecureServer(tls, answer)
  const port = await portOf(server)
  return {
    paths,
    port,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

const passOn = (request: IncomingMessage, port: number, done: (answer: IncomingMessage) => void): void => {
  const { pathname, search } = new URL(request.url ?? '')
  const { method, headers } = request
  request.pipe(httpRequest({ host: '127.0.0.1', port, path: pathname + search, method, headers }, done))
}

/** A proxy that knows where the hosts are. */
export async function startProxy(ports: Readonly<Record<string, number>>) {
  const seen: string[] = []
  const server = createServer((request, response) => {
    const { hostname, pathname } = new URL(request.url ?? '')
    seen.push(`${hostname}${pathname}`)
    passOn(request, ports[hostname] ?? 1, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(response)
    })
  })
  server.on('connect', (request, socket) => {
    const host = String(request.url).split(':')[0] ?? ''
    seen.push(`CONNECT ${request.url}`)
    const far = connectTo(ports[host] ?? 1, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n')
      far.pipe(socket).pipe(far)
    })
    for (const end of [far, socket]) end.on('error', () => undefined)
  })
  const port = await portOf(server)
  return {
    seen,
    url: `http://user:secret@127.0.0.1:${port}`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
