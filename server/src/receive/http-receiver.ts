import { createServer } from 'node:http'
import type { IncomingMessage, RequestListener, Server, ServerOptions, ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { Socket } from 'node:net'

import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire'

import type { Signal } from '../log/span-log.ts'
import { checkAccess } from './access.ts'
import type { AccessOptions } from './access.ts'
import type { Connections } from './connections.ts'
import { decompressBody } from './decompress.ts'
import { countBrokenHttp } from './broken-http.ts'
import type { RequestBytes } from './bytes-in-flight.ts'
import { INSTANCE_HEADER } from './receive.ts'
import type { Receiver } from './receive.ts'
import { Refusal } from './refusal.ts'

/** Limits per sender. */
export interface HttpLimits {
  /** Maximum bytes of a received body. */
  readonly maxBodyBytes: number
  /** Maximum bytes of a decompressed body. */
  readonly maxDecompressedBytes: number
  /** Maximum milliseconds until the headers are complete. */
  readonly headersTimeoutMs: number
  /** Maximum milliseconds until the request is complete. */
  readonly requestTimeoutMs: number
  /** Maximum number of open connections. */
  readonly maxConnections: number
  /** Maximum bytes of all unanswered requests together, received and decompressed. */
  readonly maxReceivingBytes: number
}

/** Certificate and key in PEM. With a client CA, senders must present a certificate that it signed. */
export interface TlsOptions {
  /** The certificate of the service. */
  readonly cert: string
  /** Its private key. */
  readonly key: string
  /** The authority that must have signed the certificates of senders; `undefined` if they need none. */
  readonly clientCa: string | undefined
  /** Calls a listener when the files have changed. @default they do not */
  readonly onChange?: (listener: (tls: Pick<TlsOptions, 'cert' | 'key' | 'clientCa'>) => void) => void
}

/** What the receiver answers besides OTLP. */
export interface OtherPaths {
  /** Health and readiness, without a token; `undefined` for any other path. @param maySend whether the caller may send spans */
  readonly read: (path: string, maySend: boolean) => { readonly status: number; readonly body: unknown } | undefined
  /** Takes the JSON of `POST /v1/feedback`. Rejects with a `Refusal`. */
  readonly takeFeedback: (given: unknown) => Promise<void>
}

/** Maximum bytes of feedback. */
const MAX_FEEDBACK_BYTES = 64 * 1024

/**
 * How long a connection may be idle between two requests. Node.js's default of 5 s equals the interval of senders, so it would close
 * connections just when they are used again.
 */
const KEEP_ALIVE_MS = 65_000

/** Maximum time without any bytes, so that a sender that never reads its answers keeps no connection. */
const SILENCE_MS = KEEP_ALIVE_MS + 5000

const SIGNALS: Readonly<Record<string, Signal>> = { '/v1/traces': 'traces', '/v1/logs': 'logs' }

/** An OTLP/HTTP receiver (https://opentelemetry.io/docs/specs/otlp/#otlphttp) for traces and logs, protobuf and JSON. */
export function createHttpReceiver(
  receiver: Receiver,
  access: AccessOptions,
  limits: HttpLimits,
  tls: TlsOptions | undefined,
  otherPaths: OtherPaths,
  connections: Connections,
): Server {
  const handle = (request: IncomingMessage, response: ServerResponse): void => {
    const { remoteAddress, remotePort } = request.socket
    connections.begin({ remoteAddress, remotePort })
    response.once('close', () => connections.end({ remoteAddress, remotePort }))
    void answer(receiver, access, limits, otherPaths, request, response)
  }
  const timeouts = {
    headersTimeout: limits.headersTimeoutMs,
    requestTimeout: limits.requestTimeoutMs,
    connectionsCheckingInterval: 1000,
    keepAliveTimeout: KEEP_ALIVE_MS,
    maxHeaderSize: 16 * 1024,
  }
  const server = tls === undefined ? createServer(timeouts, handle) : createSecure(tls, timeouts, handle)
  server.on('connection', (socket: Socket) => void connections.accept(socket))
  server.timeout = SILENCE_MS
  // A sender that asks before sending (`Expect`) is refused if its body is too large.
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    if (Number(request.headers['content-length'] ?? 0) <= limits.maxBodyBytes) response.writeContinue()
    handle(request, response)
  })
  countBrokenHttp(server, receiver)
  return server
}

/** Connections that are open live on when the certificate changes. */
function createSecure(tls: TlsOptions, timeouts: ServerOptions, handle: RequestListener): Server {
  const contextOf = ({ cert, key, clientCa }: Pick<TlsOptions, 'cert' | 'key' | 'clientCa'>) => ({
    cert,
    key,
    ...(clientCa !== undefined && { ca: clientCa }),
  })
  const secure = createTlsServer({ ...timeouts, ...contextOf(tls), requestCert: tls.clientCa !== undefined }, handle)
  tls.onChange?.((changed) => secure.setSecureContext(contextOf(changed)))
  return secure
}

async function answer(
  receiver: Receiver,
  access: AccessOptions,
  limits: HttpLimits,
  otherPaths: OtherPaths,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const isJson = mediaType(request) === 'application/json'
  try {
    const path = (request.url ?? '').split('?')[0] ?? ''
    const other = request.method === 'GET' ? otherPaths.read(path, maySend(access, request)) : undefined
    if (other !== undefined) {
      checkAccess(
        {
          ...access,
          token: undefined,
          hasClientCertificates: access.hasClientCertificates || access.token !== undefined,
        },
        callerOf(request),
      )
      // It needs no token, so it keeps no connection.
      response.setHeader('connection', 'close')
      sendJson(response, other.status, other.body)
      return
    }
    checkAccess(access, callerOf(request))
    receiver.checkSender(passedBy(request))
    const signal = SIGNALS[path]
    if (signal === undefined && path !== '/v1/feedback')
      throw new Refusal('not-found', `Expected a POST to /v1/traces, /v1/logs or /v1/feedback, got another path.`)
    if (request.method !== 'POST')
      throw new Refusal('method-not-allowed', `Expected a POST, got ${request.method ?? 'no method'}.`)
    if (signal === undefined) {
      await otherPaths.takeFeedback(await jsonOf(receiver, request))
      sendJson(response, 200, {})
      return
    }
    const encoding = encodingOf(request)
    const invalid = await takeBody(receiver, limits, request, signal, encoding)
    succeed(response, encoding, signal, invalid)
  } catch (error) {
    const refusal = receiver.refuse(error, request.socket.remoteAddress)
    // Otherwise, Node.js would wait for the rest of a body that nobody reads.
    if (!request.complete) response.setHeader('connection', 'close')
    fail(response, refusal, isJson)
  }
}

function maySend(access: AccessOptions, request: IncomingMessage): boolean {
  try {
    checkAccess(access, callerOf(request))
    return true
  } catch {
    return false
  }
}

/** The JSON of a request that is not OTLP. */
async function jsonOf(receiver: Receiver, request: IncomingMessage): Promise<unknown> {
  if (encodingOf(request) !== 'json')
    throw new Refusal('unsupported-type', 'Expected Content-Type application/json, got another.')
  const { promise: givenUp, reject: giveUp } = Promise.withResolvers<never>()
  givenUp.catch(() => undefined)
  const held = receiver.inFlight.begin(giveUp)
  try {
    const body = await bodyOf(request, MAX_FEEDBACK_BYTES, held, givenUp)
    return JSON.parse(body.toString('utf8'))
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    throw new Refusal('malformed', 'Expected feedback as JSON, got another text.')
  } finally {
    held.end()
  }
}

/** @returns how many records were left out */
async function takeBody(
  receiver: Receiver,
  limits: HttpLimits,
  request: IncomingMessage,
  signal: Signal,
  encoding: 'protobuf' | 'json',
): Promise<number> {
  const { promise: givenUp, reject: giveUp } = Promise.withResolvers<never>()
  // It may be dropped after the request has failed for another reason.
  givenUp.catch(() => undefined)
  const held = receiver.inFlight.begin(giveUp)
  try {
    const wire = await bodyOf(request, limits.maxBodyBytes, held, givenUp)
    // The body was read, so the sender can use its connection again.
    receiver.checkAvailable()
    const contentEncoding = request.headers['content-encoding']?.trim().toLowerCase() ?? ''
    const body = await decompressBody(wire, contentEncoding, limits.maxDecompressedBytes, held, givenUp)
    held.keep()
    const contentType = request.headers['content-type'] ?? ''
    return await receiver.take({
      signal,
      encoding,
      body,
      wire: { contentType, contentEncoding, body: wire, passed: passedBy(request) },
    })
  } finally {
    held.end()
  }
}

function passedBy({ headers }: IncomingMessage): string {
  return headers[INSTANCE_HEADER]?.toString() ?? ''
}

function callerOf({ headers }: IncomingMessage) {
  return { host: headers.host, origin: headers.origin, authorization: headers.authorization }
}

function mediaType(request: IncomingMessage): string {
  return (request.headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase() ?? ''
}

function encodingOf(request: IncomingMessage): 'protobuf' | 'json' {
  const type = mediaType(request)
  if (type === 'application/x-protobuf') return 'protobuf'
  if (type === 'application/json') return 'json'
  throw new Refusal(
    'unsupported-type',
    'Expected Content-Type application/x-protobuf or application/json, got another.',
  )
}

/** @param givenUp rejects when the body is no longer needed */
function bodyOf(
  request: IncomingMessage,
  maxBytes: number,
  held: RequestBytes,
  givenUp: Promise<never>,
): Promise<Buffer> {
  const tooLarge = () => new Refusal('too-large', `Expected a body of at most ${maxBytes} bytes, got a larger one.`)
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) throw tooLarge()
  const chunks: Buffer[] = []
  let bytes = 0
  const whole = new Promise<Buffer>((resolve, reject) => {
    const isLate = (): void => reject(new Refusal('timed-out', 'The body did not come whole in time.'))
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.byteLength
      if (bytes > maxBytes) {
        reject(tooLarge())
        return
      }
      chunks.push(chunk)
      held.add(chunk.byteLength)
    })
    request.on('end', () => resolve(Buffer.concat(chunks)))
    request.on('error', isLate)
    request.on('close', isLate)
  })
  return Promise.race([whole, givenUp]).finally(() => {
    // Data after a refusal is ignored.
    request.removeAllListeners('data')
    request.pause()
  })
}

const REJECTED = { traces: 'rejectedSpans', logs: 'rejectedLogRecords' } as const
const NO_IDS = 'They carry no valid trace and span id.'

function succeed(response: ServerResponse, encoding: 'protobuf' | 'json', signal: Signal, invalid: number): void {
  if (encoding === 'json') {
    sendJson(
      response,
      200,
      invalid === 0 ? {} : { partialSuccess: { [REJECTED[signal]]: String(invalid), errorMessage: NO_IDS } },
    )
    return
  }
  send(response, 200, 'application/x-protobuf', exportResponse(invalid))
}

/** `ExportTraceServiceResponse` and `ExportLogsServiceResponse` have the same shape. */
export function exportResponse(invalid: number): Uint8Array {
  if (invalid === 0) return new Uint8Array()
  const writer = new BinaryWriter().tag(1, WireType.LengthDelimited).fork()
  writer.tag(1, WireType.Varint).int64(BigInt(invalid)).tag(2, WireType.LengthDelimited).string(NO_IDS)
  return writer.join().finish()
}

/** The body of an error is a `google.rpc.Status`, in the request's encoding. */
function fail(response: ServerResponse, { status, grpcCode, message }: Refusal, isJson: boolean): void {
  if (status === 401) response.setHeader('www-authenticate', 'Bearer')
  if (status === 503) response.setHeader('retry-after', '1')
  if (isJson) {
    sendJson(response, status, { code: grpcCode, message })
    return
  }
  const writer = new BinaryWriter()
    .tag(1, WireType.Varint)
    .int32(grpcCode)
    .tag(2, WireType.LengthDelimited)
    .string(message)
  send(response, status, 'application/x-protobuf', writer.finish())
}

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  send(response, status, 'application/json', Buffer.from(JSON.stringify(body)))
}

function send(response: ServerResponse, status: number, contentType: string, body: Uint8Array): void {
  response.writeHead(status, {
    'content-type': contentType,
    'content-length': body.byteLength,
    'x-content-type-options': 'nosniff',
  })
  response.end(body)
}
