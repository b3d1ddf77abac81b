import { randomUUID } from 'node:crypto'

import { loadConfig } from './config/load-config.ts'
import type { LoadedConfig } from './config/load-config.ts'
import { readinessOf } from './health.ts'
import { limited } from './limited.ts'
import { createLogExporter, createSpanExporter } from './send/acknowledged-exporter.ts'
import type { Destination } from './send/acknowledged-exporter.ts'
import { Outbox } from './send/outbox.ts'
import { TakenSignals } from './send/taken-signals.ts'
import { ServiceMeters } from './send/service-meters.ts'
import { serveHealth } from './serve-health.ts'
import type { HealthServer } from './serve-health.ts'

/** Options of the process of a worker or a judge worker. */
export interface WorkerProcessOptions {
  /** The destination of scores. */
  readonly to: Destination
  /** Workers and judge workers use the same file. */
  readonly configPath: string | undefined
  /** The address for health and readiness. */
  readonly host: string
  /** 0 means any free port. */
  readonly httpPort: number
  /** Receives lines for the operator. */
  readonly report: (line: string) => void
}

/** A running worker or judge worker. */
export interface RunningWorker {
  readonly httpPort: number
  readonly counts: () => unknown
  /** Delivers finished scores, commits, and leaves the group. */
  stop(timeoutMs?: number): Promise<void>
}

/** The state of a worker. */
export interface WorkerState {
  /** Why it should be restarted; `undefined` if it works. */
  readonly stuck: string | undefined
  /** Why it does nothing now; `undefined` if it does. */
  readonly unavailable: string | undefined
}

/** The parts that both kinds of workers start with. */
export interface WorkerProcessParts {
  readonly report: (line: string) => void
  readonly config: LoadedConfig
  readonly meters: ServiceMeters
  readonly outbox: Outbox
}

/** @throws Error if the configuration is invalid: what was expected, and what came */
export function openWorkerProcess({ to, configPath, report: say }: WorkerProcessOptions): WorkerProcessParts {
  const report = limited(say)
  const taken = new TakenSignals()
  return {
    report,
    config: loadConfig(configPath, say),
    meters: new ServiceMeters(randomUUID(), to),
    outbox: new Outbox({
      logs: createLogExporter(to, taken),
      spans: createSpanExporter(to, taken),
      report,
      now: () => performance.now(),
    }),
  }
}

/** Answers `/health` and `/ready` for a worker. */
export function serveWorkerHealth(
  { host, httpPort }: WorkerProcessOptions,
  outbox: Outbox,
  state: WorkerState,
): Promise<HealthServer> {
  return serveHealth(host, httpPort, {
    health: () => {
      const { stuck } = state
      return stuck === undefined
        ? { status: 200, body: { status: 'ok' } }
        : { status: 503, body: { status: 'stuck', reasons: [stuck] } }
    },
    ready: () =>
      readinessOf({
        idleMs: 0,
        undeliveredMs: outbox.failingForMs,
        isOutboxFull: outbox.isFull,
        unavailable: state.unavailable,
      }),
  })
}
