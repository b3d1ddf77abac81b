import type { ServerOptions } from '../src/start.ts'

/** Options of a service under test, with any free ports and short waits. */
export function serverOptions(to: string, change: Partial<ServerOptions> = {}): ServerOptions {
  return {
    host: '127.0.0.1',
    httpPort: 0,
    grpcPort: 0,
    to: { url: to, headers: {}, timeoutMs: 5000 },
    forwards: false,
    dataFolder: undefined,
    configPath: undefined,
    access: { token: undefined, allowedHosts: [], hasClientCertificates: false },
    tls: undefined,
    limits: {
      maxBodyBytes: 4 * 1024 * 1024,
      maxDecompressedBytes: 8 * 1024 * 1024,
      maxReceivingBytes: 64 * 1024 * 1024,
      headersTimeoutMs: 1000,
      requestTimeoutMs: 2000,
      maxConnections: 100,
      maxSpansPerRequest: 20_000,
      maxSpanBytes: 1024 * 1024,
      maxLogBytes: 512 * 1024 * 1024,
      retentionMs: 86_400_000,
    },
    traces: {
      settleMs: 300,
      orphanMs: 3000,
      lingerMs: 60_000,
      maxAgeMs: 60_000,
      maxSpansPerTrace: 5000,
      maxBytesPerTrace: 64 * 1024 * 1024,
      maxSpans: 100_000,
      maxContentBytes: 256 * 1024 * 1024,
    },
    idleMs: 900_000,
    report: () => undefined,
    ...change,
  }
}
