import { Metadata, Server, ServerCredentials, status } from '@grpc/grpc-js'
import type { sendUnaryData, ServerUnaryCall, UntypedServiceImplementation } from '@grpc/grpc-js'

import type { Signal } from '../log/span-log.ts'
import { checkAccess } from './access.ts'
import type { AccessOptions } from './access.ts'
import { exportResponse } from './http-receiver.ts'
import type { HttpLimits, TlsOptions } from './http-receiver.ts'
import type { Receiver } from './receive.ts'

/** Calls that one connection may have open. */
const MAX_STREAMS = 100

/** An OTLP/gRPC receiver for traces and logs. Messages are passed to our own decoder as bytes. */
export function createGrpcReceiver(receiver: Receiver, access: AccessOptions, limits: HttpLimits): Server {
  const server = new Server({
    'grpc.max_receive_message_length': limits.maxDecompressedBytes,
    'grpc.max_concurrent_streams': MAX_STREAMS,
    'grpc.max_connection_idle_ms': 300_000,
  })
  for (const [service, signal] of SERVICES) {
    const path = `/opentelemetry.proto.collector.${service}/Export`
    server.addService(
      {
        Export: {
          path,
          requestStream: false,
          responseStream: false,
          requestSerialize: (bytes: Uint8Array) => Buffer.from(bytes),
          requestDeserialize: (bytes: Buffer) => bytes,
          responseSerialize: (bytes: Uint8Array) => Buffer.from(bytes),
          responseDeserialize: (bytes: Buffer) => bytes,
        },
      },
      implementation(receiver, access, signal),
    )
  }
  return server
}

/** Binds the server. @returns The port that it listens on. */
export function bindGrpc(server: Server, host: string, port: number, tls: TlsOptions | undefined): Promise<number> {
  const address = host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
  return new Promise((resolve, reject) => {
    server.bindAsync(address, credentialsOf(tls), (error, bound) => {
      if (error === null) resolve(bound)
      else reject(error)
    })
  })
}

const SERVICES: readonly (readonly [string, Signal])[] = [
  ['trace.v1.TraceService', 'traces'],
  ['logs.v1.LogsService', 'logs'],
]

function implementation(receiver: Receiver, access: AccessOptions, signal: Signal): UntypedServiceImplementation {
  return {
    Export: (call: ServerUnaryCall<Buffer, Uint8Array>, callback: sendUnaryData<Uint8Array>): void => {
      void exportCall(receiver, access, signal, call, callback)
    },
  }
}

async function exportCall(
  receiver: Receiver,
  access: AccessOptions,
  signal: Signal,
  call: ServerUnaryCall<Buffer, Uint8Array>,
  callback: sendUnaryData<Uint8Array>,
): Promise<void> {
  try {
    checkAccess(access, {
      host: call.getHost(),
      origin: textOf(call.metadata, 'origin'),
      authorization: textOf(call.metadata, 'authorization'),
    })
    const body = call.request
    const wire = { contentType: 'application/x-protobuf', contentEncoding: '', body }
    const invalid = await receiver.take({ signal, encoding: 'protobuf', body, wire })
    callback(null, exportResponse(invalid))
  } catch (error) {
    const { grpcCode, message } = receiver.refuse(error)
    // RESOURCE_EXHAUSTED without a retry delay would be retried by nobody, UNAVAILABLE is by everybody.
    callback({ code: grpcCode in status ? grpcCode : status.UNKNOWN, details: message, metadata: new Metadata() })
  }
}

function textOf(metadata: Metadata, key: string): string | undefined {
  const [value] = metadata.get(key)
  return value === undefined ? undefined : String(value)
}

function credentialsOf(tls: TlsOptions | undefined): ServerCredentials {
  if (tls === undefined) return ServerCredentials.createInsecure()
  const pair = { cert_chain: Buffer.from(tls.cert), private_key: Buffer.from(tls.key) }
  const ca = tls.clientCa === undefined ? null : Buffer.from(tls.clientCa)
  return ServerCredentials.createSsl(ca, [pair], ca !== null)
}
