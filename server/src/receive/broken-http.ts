import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'

import type { Receiver } from './receive.ts'
import { Refusal } from './refusal.ts'

const ANSWERS: Readonly<Record<string, readonly ['timed-out' | 'too-large', string]>> = {
  ERR_HTTP_REQUEST_TIMEOUT: ['timed-out', '408 Request Timeout'],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: ['too-large', '413 Payload Too Large'],
  HPE_HEADER_OVERFLOW: ['too-large', '431 Request Header Fields Too Large'],
}

/** How long a sender has to read the answer before its connection is closed. Otherwise, one that never closes would keep it open. */
const FAREWELL_MS = 500

/** The default of OpenTelemetry in Python is gRPC, whose error of an HTTP/1.1 server does not name the cause. */
const GRPC_TO_HTTP =
  'Something sends gRPC to the port of OTLP/HTTP, and cannot be understood: send it to the port of OTLP/gRPC, or set OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf.'

const MALFORMED = ['malformed', '400 Bad Request'] as const

/**
 * Counts requests that are not valid HTTP or exceed its limits. Node.js answers them before there is a request object. This gives the same answers.
 */
export function countBrokenHttp(server: Server, receiver: Pick<Receiver, 'report' | 'refuse'>): void {
  const answering = new WeakSet<Duplex>()
  let hasNamedGrpc = false
  const begin = (request: IncomingMessage, response: ServerResponse): void => {
    answering.add(request.socket)
    response.once('close', () => answering.delete(request.socket))
  }
  server.on('request', begin)
  server.on('checkContinue', begin)
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy()
      return
    }
    if (error.code === 'HPE_PAUSED_H2_UPGRADE' && !hasNamedGrpc) {
      hasNamedGrpc = true
      receiver.report(GRPC_TO_HTTP)
    }
    const [kind, status] = ANSWERS[error.code ?? ''] ?? MALFORMED
    // A request that has started is counted where it ends.
    if (!answering.has(socket)) receiver.refuse(new Refusal(kind, 'Expected a request of HTTP/1.1.'))
    socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\n\r\n`)
    setTimeout(() => socket.destroy(), FAREWELL_MS).unref()
  })
}
