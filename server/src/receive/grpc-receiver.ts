import { EventEmitter } from 'node:events'
import { constants } from 'node:http2'
import type { ServerHttp2Stream } from 'node:http2'
import { createServer } from 'node:net'
import type { Server as NetServer } from 'node:net'

import { experimental, Metadata, Server, ServerCredentials, ServerInterceptingCall, status } from '@grpc/grpc-js'
import type {
  sendUnaryData,
  ServerInterceptingCallInterface,
  ServerUnaryCall,
  UntypedServiceImplementation,
} from '@grpc/grpc-js'

import { listen } from '../listen.ts'
import type { Signal } from '../log/span-log.ts'
import { checkAccess } from './access.ts'
import type { AccessOptions } from './access.ts'
import type { Connections } from './connections.ts'
import { decompressBody } from './decompress.ts'
import { exportResponse } from './http-receiver.ts'
import type { HttpLimits, TlsOptions } from './http-receiver.ts'
import type { Receiver } from './receive.ts'
import { Refusal } from './refusal.ts'

/** Maximum number of open calls per connection. */
const MAX_STREAMS = 100

/** A connection without a call is closed after this time, and a sender that does not answer a ping counts as gone. */
const CONNECTION_OPTIONS = {
  'grpc.max_connection_idle_ms': 300_000,
  'grpc.keepalive_time_ms': 60_000,
  'grpc.keepalive_timeout_ms': 20_000,
}

/** How long a sender that was too slow has to read the reason before its connection is closed. */
const FAREWELL_MS = 500

/** An OTLP/gRPC receiver for traces and logs. */
export class GrpcReceiver {
  readonly #server: Server
  readonly #connections: Connections
  readonly #listener: NetServer
  readonly #receiver: Receiver
  readonly #access: AccessOptions
  readonly #limits: HttpLimits

  constructor(
    receiver: Receiver,
    access: AccessOptions,
    limits: HttpLimits,
    tls: TlsOptions | undefined,
    connections: Connections,
  ) {
    this.#connections = connections
    this.#receiver = receiver
    this.#access = access
    this.#limits = limits
    this.#server = new Server({
      ...CONNECTION_OPTIONS,
      'grpc.max_receive_message_length': limits.maxDecompressedBytes,
      'grpc.max_concurrent_streams': MAX_STREAMS,
      interceptors: [(_method, call) => this.#guarded(call)],
    })
    for (const [service, signal] of SERVICES) {
      const path = `/opentelemetry.proto.collector.${service}/Export`
      // Messages are passed to our own decoder as bytes.
      const asBytes = {
        requestStream: false,
        responseStream: false,
        requestSerialize: (bytes: Uint8Array) => Buffer.from(bytes),
        requestDeserialize: (bytes: Buffer) => bytes,
        responseSerialize: (bytes: Uint8Array) => Buffer.from(bytes),
        responseDeserialize: (bytes: Buffer) => bytes,
      }
      this.#server.addService({ Export: { path, ...asBytes } }, this.#implementation(signal))
    }
    const injector = this.#server.createConnectionInjector(credentialsOf(tls))
    this.#listener = createServer({ noDelay: true }, (socket) => {
      if (connections.accept(socket)) injector.injectConnection(socket)
    })
  }

  /** @returns the port that it listens on */
  listen(host: string, port: number): Promise<number> {
    return listen(this.#listener, host, port, '--grpc-port')
  }

  /** Accepts no more calls, and waits for open ones until the timeout. */
  async close(timeoutMs: number): Promise<void> {
    this.#listener.close()
    let timer: NodeJS.Timeout | undefined
    await Promise.race([
      new Promise<void>((resolve) => this.#server.tryShutdown(() => resolve())),
      new Promise<void>((resolve) => {
        timer = setTimeout(resolve, timeoutMs)
      }),
    ])
    clearTimeout(timer)
    this.#server.forceShutdown()
    this.#connections.destroy()
  }

  /** Checks the sender before reading the message, which must arrive in time. */
  #guarded(call: ServerInterceptingCallInterface): ServerInterceptingCall {
    const address = call.getConnectionInfo()
    let timer: NodeJS.Timeout | undefined
    let isOver = false
    let isReceived = false
    const { promise: givenUp, reject: giveUp } = Promise.withResolvers<never>()
    // Most calls are refused while nothing is decompressed.
    givenUp.catch(() => undefined)
    const held = this.#receiver.inFlight.begin((refusal) => {
      giveUp(refusal)
      refuse(refusal)
      // The rest of the message is not read.
      stream?.pause()
      setTimeout(() => stream?.close(constants.NGHTTP2_CANCEL), FAREWELL_MS).unref()
    })
    const stream = streamOf(call)
    stream?.on('data', (chunk: Buffer) => held.add(chunk.byteLength))
    // The only sign of a call that is reset before it has started.
    stream?.once('close', () => held.end())
    const end = (): void => {
      clearTimeout(timer)
      if (isOver) return
      isOver = true
      held.end()
      this.#connections.end(address)
    }
    const refuse = (error: unknown): void => {
      if (isOver) return
      isReceived = true
      call.sendStatus(this.#refusal(error, address.remoteAddress))
    }
    const { maxDecompressedBytes } = this.#limits
    unpackBy(call, async (packed, encoding) => {
      try {
        return await decompressBody(packed, encoding, maxDecompressedBytes, held, givenUp)
      } catch (error) {
        refuse(error)
        // The library is not to go on with this call.
        return new Promise<never>(() => undefined)
      }
    })
    const sendStatus = call.sendStatus.bind(call)
    // The library itself refuses messages that are too large or missing, through the same method.
    call.sendStatus = (given) => {
      end()
      if (!isReceived && given.code !== status.OK) {
        this.#receiver.refuse(given.code === status.RESOURCE_EXHAUSTED ? TOO_LARGE : NO_MESSAGE)
      }
      sendStatus(given)
    }
    return new ServerInterceptingCall(call, {
      start: (next) => {
        this.#connections.begin(address)
        next({
          onReceiveMetadata: (metadata, pass) => {
            try {
              checkAccess(this.#access, {
                host: call.getHost(),
                origin: textOf(metadata, 'origin'),
                authorization: textOf(metadata, 'authorization'),
              })
              this.#receiver.checkAvailable()
            } catch (error) {
              refuse(error)
              return
            }
            timer = setTimeout(() => {
              refuse(new Refusal('timed-out', 'The message did not come whole in time.'))
              setTimeout(() => this.#connections.closeUnused(address), FAREWELL_MS).unref()
            }, this.#limits.requestTimeoutMs)
            pass(metadata)
          },
          onReceiveMessage: (message, pass) => {
            isReceived = true
            held.keep()
            pass(message)
          },
          onReceiveHalfClose: (pass) => {
            clearTimeout(timer)
            pass()
          },
          onCancel: end,
        })
      },
    })
  }

  #implementation(signal: Signal): UntypedServiceImplementation {
    return {
      Export: (call: ServerUnaryCall<Buffer, Uint8Array>, callback: sendUnaryData<Uint8Array>): void => {
        void this.#export(signal, call.request, callback)
      },
    }
  }

  async #export(signal: Signal, body: Buffer, callback: sendUnaryData<Uint8Array>): Promise<void> {
    try {
      const wire = { contentType: 'application/x-protobuf', contentEncoding: '', body, passed: '' }
      const invalid = await this.#receiver.take({ signal, encoding: 'protobuf', body, wire })
      callback(null, exportResponse(invalid))
    } catch (error) {
      callback({ ...this.#refusal(error), metadata: new Metadata() })
    }
  }

  /** Nobody retries RESOURCE_EXHAUSTED without a retry delay; everybody retries UNAVAILABLE. */
  #refusal(error: unknown, address?: string): { readonly code: status; readonly details: string } {
    const { grpcCode, message } = this.#receiver.refuse(error, address)
    return { code: grpcCode in status ? grpcCode : status.UNKNOWN, details: message }
  }
}

const SERVICES: readonly (readonly [string, Signal])[] = [
  ['trace.v1.TraceService', 'traces'],
  ['logs.v1.LogsService', 'logs'],
]

/**
 * The HTTP/2 stream of a call. The library hides it, assembles a message's bytes by itself, and reports nothing before it is complete.
 */
function streamOf(call: object): ServerHttp2Stream | undefined {
  const stream: unknown = Reflect.get(call, 'stream')
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what a field of that name of the library's call is
  return stream instanceof EventEmitter ? (stream as ServerHttp2Stream) : undefined
}

/** The compression flag and the length, which precede a message. */
const PREFIX_BYTES = 5

/**
 * Decompresses the message of a call by a function that counts its bytes. The library would decompress many messages at the same time, each
 * up to its limit, and count none of them.
 */
function unpackBy(call: object, unpack: (packed: Buffer, encoding: string) => Promise<Uint8Array>): void {
  Reflect.set(call, 'decompressMessage', (message: Buffer, encoding: string) =>
    unpack(message.subarray(PREFIX_BYTES), encoding),
  )
}

const TOO_LARGE = new Refusal('too-large', 'The message is too large.')
const NO_MESSAGE = new Refusal('malformed', 'Expected one message, got none that can be read.')

function textOf(metadata: Metadata, key: string): string | undefined {
  const [value] = metadata.get(key)
  return value === undefined ? undefined : String(value)
}

function credentialsOf(tls: TlsOptions | undefined): ServerCredentials {
  if (tls === undefined) return ServerCredentials.createInsecure()
  const provider = new Provider(tls)
  const hasClients = tls.clientCa !== undefined
  return experimental.createCertificateProviderServerCredentials(provider, hasClients ? provider : null, hasClients)
}

type CertificateProvider = experimental.CertificateProvider
type Identity = Parameters<CertificateProvider['addIdentityCertificateListener']>[0]
type Authority = Parameters<CertificateProvider['addCaCertificateListener']>[0]

/** Hands certificates to the library, now and whenever they change. */
class Provider implements CertificateProvider {
  readonly #identity = new Set<Identity>()
  readonly #authority = new Set<Authority>()
  #tls: Pick<TlsOptions, 'cert' | 'key' | 'clientCa'>

  constructor(tls: TlsOptions) {
    this.#tls = tls
    tls.onChange?.((changed) => {
      this.#tls = changed
      for (const listener of this.#identity) this.#tellIdentity(listener)
      for (const listener of this.#authority) this.#tellAuthority(listener)
    })
  }

  addIdentityCertificateListener(listener: Identity): void {
    this.#identity.add(listener)
    // The library is not ready for it before this method returns.
    queueMicrotask(() => this.#tellIdentity(listener))
  }

  removeIdentityCertificateListener(listener: Identity): void {
    this.#identity.delete(listener)
  }

  addCaCertificateListener(listener: Authority): void {
    this.#authority.add(listener)
    queueMicrotask(() => this.#tellAuthority(listener))
  }

  removeCaCertificateListener(listener: Authority): void {
    this.#authority.delete(listener)
  }

  #tellIdentity(listener: Identity): void {
    listener({ certificate: Buffer.from(this.#tls.cert), privateKey: Buffer.from(this.#tls.key) })
  }

  #tellAuthority(listener: Authority): void {
    listener({ caCertificate: Buffer.from(this.#tls.clientCa ?? '') })
  }
}
