import { randomUUID } from 'node:crypto'

import { loadConfig } from './config/load-config.ts'
import type { LoadedConfig } from './config/load-config.ts'
import { readinessOf } from './health.ts'
import { jobConfigHash } from './kafka/judges/job-config-hash.ts'
import { JobWriter } from './kafka/judges/job-writer.ts'
import { Worker } from './kafka/worker.ts'
import type { WorkerOptions } from './kafka/worker.ts'
import { limited } from './limited.ts'
import { RequestReader } from './receive/read-request.ts'
import type { RecordLimits } from './receive/read-request.ts'
import { ServiceScorer } from './score/service-scorer.ts'
import { createLogExporter, createSpanExporter } from './send/acknowledged-exporter.ts'
import type { Destination } from './send/acknowledged-exporter.ts'
import { Outbox } from './send/outbox.ts'
import { ServiceMeters } from './send/service-meters.ts'
import { WorkerMetrics } from './send/worker-metrics.ts'
import { serveHealth } from './serve-health.ts'
import type { HealthAnswer } from './serve-health.ts'

/** How a worker on Kafka is set up. */
export interface WorkerServerOptions extends WorkerOptions {
  readonly to: Destination
  readonly configPath: string | undefined
  /** Where jobs for judge workers go; `undefined` where judges are asked here. */
  readonly jobsTopic: string | undefined
  readonly limits: RecordLimits
  /** Where health and readiness are answered. */
  readonly host: string
  /** 0 takes any free port. */
  readonly httpPort: number
  readonly report: (line: string) => void
}

/** A worker that runs. */
export interface RunningWorker {
  readonly httpPort: number
  readonly counts: () => unknown
  /** Delivers what is scored, commits it, and leaves the group. */
  stop(timeoutMs?: number): Promise<void>
}

const STOP_TIMEOUT_MS = 10_000

/**
 * Starts a worker: it reads spans from Kafka, scores whole runs, and sends the scores on.
 *
 * @throws Error where it cannot: what was expected, what came, and what to do
 */
export async function startWorker(options: WorkerServerOptions): Promise<RunningWorker> {
  const { to } = options
  const report = limited(options.report)
  const config = loadConfig(options.configPath, options.report)
  const meters = new ServiceMeters(randomUUID(), to)
  const jobs = await openJobs({ ...options, report }, config)
  const scorer = new ServiceScorer({ options: config.options, meters, jobs })
  const reader = await RequestReader.create(options.limits)
  const outbox = new Outbox({ logs: createLogExporter(to), spans: createSpanExporter(to), report, now: monotonicMs })
  const configuration = JSON.stringify([scorer.scorers, config.text, options.traces])
  const worker = await Worker.start(options, {
    scorer,
    outbox,
    reader,
    report,
    configuration,
    take: (run) => scorer.take(run),
  })
  const metrics = new WorkerMetrics(worker, outbox, meters, jobs)
  const http = await serveHealth(options.host, options.httpPort, {
    health: () => healthOfWorker(worker),
    ready: () =>
      readinessOf({
        idleMs: 0,
        undeliveredMs: outbox.failingForMs,
        isOutboxFull: outbox.isFull,
        unavailable: whyUnavailable(worker, jobs),
      }),
  })
  options.report(`Scores with ${scorer.scorerIds.join(', ')} (${config.source}).`)
  if (jobs !== undefined) options.report(`Writes jobs for judges to ${options.jobsTopic}.`)
  return {
    httpPort: http.port,
    counts: () => ({
      worker: { ...worker.counts, partitions: worker.partitions, lag: worker.lag },
      traces: worker.traces(),
      outbox: { ...outbox.counts, waiting: outbox.size },
      jobs: { ...jobs?.counts, waitingBytes: jobs?.waitingBytes },
      ledger: scorer.ledger(),
    }),
    stop: async (timeoutMs = STOP_TIMEOUT_MS) => {
      http.close()
      await worker.stop(timeoutMs)
      await jobs?.close()
      await outbox.shutdown()
      await metrics.shutdown()
      await scorer.shutdown()
    },
  }
}

function monotonicMs(): number {
  return performance.now()
}

/** Where judges are configured, and are to be asked by judge workers. */
async function openJobs(
  { kafka, jobsTopic, report }: WorkerServerOptions,
  { options, text }: LoadedConfig,
): Promise<JobWriter | undefined> {
  const hasJudges = options.scorers.some((entry) => ('scorer' in entry ? entry.scorer : entry).kind === 'judge')
  if (jobsTopic === undefined || !hasJudges) return undefined
  return JobWriter.start({ kafka, topic: jobsTopic, configHash: jobConfigHash(text), report })
}

function healthOfWorker({ stuck }: Worker): HealthAnswer {
  return stuck === undefined
    ? { status: 200, body: { status: 'ok' } }
    : { status: 503, body: { status: 'stuck', reasons: [stuck] } }
}

function whyUnavailable(worker: Worker, jobs: JobWriter | undefined): string | undefined {
  return (
    worker.unavailable ??
    (jobs?.isFull === true ? 'Jobs for judges wait for the brokers; spans stay on Kafka.' : undefined)
  )
}
