import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

import { loadConfig } from './config/load-config.ts'
import { readinessOf } from './health.ts'
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

/** How a worker on Kafka is set up. */
export interface WorkerServerOptions extends WorkerOptions {
  readonly to: Destination
  readonly configPath: string | undefined
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
  const scorer = new ServiceScorer({ options: config.options, meters })
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
  const metrics = new WorkerMetrics(worker, outbox, meters)
  const http = createServer((request, response) => {
    const answer = answerTo(request.url ?? '', worker, outbox)
    response.writeHead(answer.status, { 'content-type': 'application/json' })
    response.end(JSON.stringify(answer.body))
  })
  await new Promise<void>((resolve, reject) => {
    http.once('error', reject)
    http.listen(options.httpPort, options.host, resolve)
  })
  options.report(`Scores with ${scorer.scorerIds.join(', ')} (${config.source}).`)
  const address: AddressInfo | string | null = http.address()
  return {
    httpPort: typeof address === 'object' && address !== null ? address.port : 0,
    counts: () => ({
      worker: { ...worker.counts, partitions: worker.partitions, lag: worker.lag },
      traces: worker.traces(),
      outbox: { ...outbox.counts, waiting: outbox.size },
      ledger: scorer.ledger(),
    }),
    stop: async (timeoutMs = STOP_TIMEOUT_MS) => {
      http.close()
      await worker.stop(timeoutMs)
      await outbox.shutdown()
      await metrics.shutdown()
      await scorer.shutdown()
    },
  }
}

function monotonicMs(): number {
  return performance.now()
}

function answerTo(path: string, worker: Worker, outbox: Outbox): { readonly status: number; readonly body: unknown } {
  if (path === '/health') {
    const { stuck } = worker
    return stuck === undefined
      ? { status: 200, body: { status: 'ok' } }
      : { status: 503, body: { status: 'stuck', reasons: [stuck] } }
  }
  if (path !== '/ready') return { status: 404, body: { status: 'not found' } }
  return readinessOf({
    idleMs: 0,
    undeliveredMs: outbox.failingForMs,
    isOutboxFull: outbox.isFull,
    unavailable: worker.unavailable,
  })
}
