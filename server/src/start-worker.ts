import { randomUUID } from 'node:crypto'

import { refuseConversations, resolveOptions } from 'spanscore/engine'

import { loadServiceConfig } from './config/load-config.ts'
import type { GivenFiles } from './given-files.ts'
import { readinessOf } from './health.ts'
import { Worker } from './kafka/worker.ts'
import type { WorkerOptions } from './kafka/worker.ts'
import { rateLimited } from './log-line.ts'
import type { Report } from './log-line.ts'
import { RequestReader } from './receive/read-request.ts'
import type { RecordLimits } from './receive/read-request.ts'
import { describeJudges, JudgeTroubles } from './score/judge-troubles.ts'
import { ServiceScorer } from './score/service-scorer.ts'
import { createLogExporter, createSpanExporter } from './send/acknowledged-exporter.ts'
import { createAnnotationExporter } from './send/annotation-exporter.ts'
import type { PhoenixDestination } from './send/annotation-exporter.ts'
import type { Destination } from './send/acknowledged-exporter.ts'
import { Outbox } from './send/outbox.ts'
import { ServiceMeters } from './send/service-meters.ts'
import { TakenSignals } from './send/taken-signals.ts'
import { WorkerMetrics } from './send/worker-metrics.ts'
import { serveHealth } from './serve-health.ts'
import { scoringVariables } from './variables.ts'

/** Options of a Kafka worker's process. */
export interface WorkerServerOptions extends WorkerOptions {
  /** The destination of scores. */
  readonly to: Destination
  /** Where scores become annotations as well. @default none */
  readonly phoenix?: PhoenixDestination | undefined
  /** All workers use the same file. */
  readonly configPath: string | undefined
  /** Limits of spans and log records. */
  readonly limits: RecordLimits
  /** The address for health and readiness. */
  readonly host: string
  /** 0 means any free port. */
  readonly httpPort: number
  /** A second port for health, readiness and metrics, as the service has it. @default none */
  readonly healthPort?: number | undefined
  /** Certificates and tokens, which are read again when they change. @default they do not change */
  readonly files?: GivenFiles | undefined
  /** Receives lines for the operator. */
  readonly report: Report
}

/** A running worker. */
export interface RunningWorker {
  readonly httpPort: number
  readonly counts: () => unknown
  /** Waits for judges that are asked, delivers finished scores, commits, and leaves the group. */
  stop(timeoutMs?: number): Promise<void>
}

/** Added to the timeout of a score, for its delivery. */
const DELIVERY_MS = 5000
/** An orchestrator gives a process thirty seconds to end. */
const LONGEST_STOP_MS = 25_000

/**
 * Starts a worker, which reads spans from Kafka, scores whole runs, and sends the scores.
 *
 * @throws Error if it cannot start: what was expected, what came, and what to do
 */
export async function startWorker(options: WorkerServerOptions): Promise<RunningWorker> {
  const { to, configPath, limits, traces, report: say } = options
  const report = rateLimited(say)
  const reportSending = rateLimited(say, 'SPANSCORE_EXPORT_FAILED')
  const config = loadServiceConfig(configPath, say)
  refuseConversations(resolveOptions(config.options, true), 'A Kafka worker')
  const meters = new ServiceMeters(randomUUID(), to, reportSending)
  const taken = new TakenSignals()
  const outbox = new Outbox({
    logs: createLogExporter(to, taken),
    spans: createSpanExporter(to, taken),
    annotations: options.phoenix && (await createAnnotationExporter(options.phoenix)),
    report: reportSending,
    now: () => performance.now(),
  })
  const scorer = new ServiceScorer({ options: config.options, redactor: config.redactor, meters })
  const worker = await Worker.start(options, {
    scorer,
    outbox,
    reader: await RequestReader.create(limits),
    report,
    configuration: JSON.stringify([scorer.scorers, config.text, traces, scoringVariables()]),
    take: () => scorer.take(),
  })
  const metrics = new WorkerMetrics(worker, outbox, meters)
  const judges = new JudgeTroubles(() => scorer, rateLimited(say, 'SPANSCORE_JUDGE'))
  const answers = { ...workerAnswers(options, outbox, worker, judges), metrics: meters.scrape.bind(meters) }
  const http = await serveHealth(options.host, options.httpPort, answers)
  const health =
    options.healthPort === undefined
      ? undefined
      : await serveHealth(options.host, options.healthPort, answers, '--health-port')
  say(`Scores with ${scorer.scorerIds.join(', ')} (${config.source}).`)
  for (const line of describeJudges(scorer)) say(line, 'info', 'SPANSCORE_JUDGE')
  return {
    httpPort: http.port,
    counts: () => ({
      worker: { ...worker.counts, partitions: worker.partitions, lag: worker.lag },
      traces: worker.traces(),
      outbox: { ...outbox.counts, waiting: outbox.size },
      ledger: scorer.ledger(),
    }),
    stop: async (timeoutMs = Math.min(LONGEST_STOP_MS, scorer.timeoutMs + DELIVERY_MS)) => {
      http.close()
      health?.close()
      judges.stop()
      options.files?.stop()
      await worker.stop(timeoutMs)
      await outbox.shutdown()
      await metrics.shutdown()
      await scorer.shutdown()
    },
  }
}

/** What a worker answers to `/health` and `/ready`. */
function workerAnswers(
  { files }: WorkerServerOptions,
  outbox: Outbox,
  { condition }: Worker,
  judges: JudgeTroubles,
): Omit<Parameters<typeof serveHealth>[2], 'metrics'> {
  return {
    health: () => {
      const { stuck } = condition
      return stuck === undefined
        ? { status: 200, body: { status: 'ok' } }
        : { status: 503, body: { status: 'stuck', reasons: [stuck] } }
    },
    ready: () =>
      readinessOf(
        {
          idleMs: 0,
          undeliveredMs: outbox.failingForMs,
          undelivered: outbox.trouble,
          files: files?.troubles,
          isOutboxFull: outbox.isFull,
          unavailable: condition.unavailable,
          judges: judges.now,
        },
        true,
      ),
  }
}
