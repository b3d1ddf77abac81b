import type { WorkerServerOptions } from '../../src/start-worker.ts'

/** Settings of a topic that workers read. */
export const APPEND_TIME = { 'message.timestamp.type': 'LogAppendTime' }

/** Topics with separate names, so that tests can share a cluster. */
export function topicsOf(name: string): { readonly spans: string; readonly logs: string; readonly dead: string } {
  return { spans: `${name}.spans`, logs: `${name}.logs`, dead: `${name}.dead` }
}

/** Options of a worker under test, with short waits. */
export function workerOptions(
  brokers: readonly string[],
  name: string,
  to: string,
  change: Partial<WorkerServerOptions> = {},
): WorkerServerOptions {
  return {
    kafka: { brokers, clientId: 'test' },
    groupId: name,
    topics: topicsOf(name),
    traces: {
      settleMs: 500,
      orphanMs: 5000,
      lingerMs: 60_000,
      maxAgeMs: 600_000,
      maxSpansPerTrace: 5000,
      maxBytesPerTrace: 16 * 1024 * 1024,
      maxSpans: 100_000,
      maxContentBytes: 256 * 1024 * 1024,
    },
    sessionTimeoutMs: 4000,
    commitMs: 200,
    carryAfterMs: 600_000,
    to: { url: to, headers: {}, timeoutMs: 5000 },
    configPath: undefined,
    limits: { maxSpansPerRequest: 20_000, maxSpanBytes: 1024 * 1024 },
    host: '127.0.0.1',
    httpPort: 0,
    report: () => undefined,
    ...change,
  }
}
