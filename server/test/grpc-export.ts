import { makeGenericClientConstructor, Metadata } from '@grpc/grpc-js'
import type { ChannelCredentials, ServiceError } from '@grpc/grpc-js'

const Client = makeGenericClientConstructor(
  {
    Export: {
      path: '/opentelemetry.proto.collector.trace.v1.TraceService/Export',
      requestStream: false,
      responseStream: false,
      requestSerialize: (bytes: Buffer) => bytes,
      requestDeserialize: (bytes: Buffer) => bytes,
      responseSerialize: (bytes: Buffer) => bytes,
      responseDeserialize: (bytes: Buffer) => bytes,
    },
  },
  'TraceService',
)

/** Exports traces by OTLP/gRPC. @returns The status code of the answer; 0 is `OK`. */
export function grpcExport(port: number, channel: ChannelCredentials, body: Buffer, token?: string): Promise<number> {
  const client = new Client(`127.0.0.1:${port}`, channel)
  const metadata = new Metadata()
  if (token !== undefined) metadata.set('authorization', `Bearer ${token}`)
  return new Promise((resolve) => {
    const call = client['Export'] as unknown as (
      body: Buffer,
      metadata: Metadata,
      callback: (error: ServiceError | null) => void,
    ) => void
    call.call(client, body, metadata, (error) => {
      client.close()
      resolve(error?.code ?? 0)
    })
  })
}
