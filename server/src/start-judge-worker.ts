import { randomUUID } from 'node:crypto'

import { loadConfig } from './config/load-config.ts'
import { readinessOf } from './health.ts'
import { jobConfigHash } from './kafka/judges/job-config-hash.ts'
import { JudgeWorker } from './kafka/judges/judge-worker.ts'
import type { JudgeWorkerOptions } from './kafka/judges/judge-worker-options.ts'
import { limited } from './limited.ts'
import { JudgeScorer } from './score/judge-scorer.ts'
import { createLogExporter, createSpanExporter } from './send/acknowledged-exporter.ts'
import type { Destination } from './send/acknowledged-exporter.ts'
import { JudgeMetrics } from './send/judge-metrics.ts'
import { Outbox } from './send/outbox.ts'
import { ServiceMeters } from './send/service-meters.ts'
import { serveHealth } from './serve-health.ts'
import type { RunningWorker } from './start-worker.ts'

/** How a judge worker is set up. */
export interface JudgeServerOptions extends JudgeWorkerOptions {
  readonly to: Destination
  /** The same configuration as that of the workers. */
  readonly configPath: string | undefined
  /** Where health and readiness are answered. */
  readonly host: string
  /** 0 takes any free port. */
  readonly httpPort: number
  readonly report: (line: string) => void
}

/** Beyond what a score may take, for its delivery. */
const DELIVERY_MS = 5000
/** An orchestrator gives a process thirty seconds to end. */
const LONGEST_STOP_MS = 25_000

/**
 * Starts a judge worker: it asks judges about the runs that workers have chosen, and sends the scores on.
 *
 * @throws Error where it cannot: what was expected, what came, and what to do
 */
export async function startJudgeWorker(options: JudgeServerOptions): Promise<RunningWorker> {
  const { to } = options
  const report = limited(options.report)
  const config = loadConfig(options.configPath, options.report)
  const meters = new ServiceMeters(randomUUID(), to)
  let worker: JudgeWorker | undefined
  const scorer = new JudgeScorer(config.options, meters, () => worker?.waiting ?? 0)
  if (scorer.scorers.length === 0) {
    throw new Error(`--role judge: expected a configuration with judges, got none in it (${config.source}).`)
  }
  const outbox = new Outbox({ logs: createLogExporter(to), spans: createSpanExporter(to), report, now: monotonicMs })
  const configHash = jobConfigHash(config.text)
  const started = await JudgeWorker.start(options, { scorer, outbox, configHash, report })
  worker = started
  const metrics = new JudgeMetrics(started, outbox, meters)
  const http = await serveHealth(options.host, options.httpPort, {
    health: () => {
      const { stuck } = started
      return stuck === undefined
        ? { status: 200, body: { status: 'ok' } }
        : { status: 503, body: { status: 'stuck', reasons: [stuck] } }
    },
    ready: () =>
      readinessOf({
        idleMs: 0,
        undeliveredMs: outbox.failingForMs,
        isOutboxFull: outbox.isFull,
        unavailable: started.unavailable,
      }),
  })
  options.report(`Asks ${scorer.scorers.map(({ id }) => id).join(', ')} (${config.source}).`)
  return {
    httpPort: http.port,
    counts: () => ({
      judge: { ...started.counts, partitions: started.partitions, lag: started.lag, inFlight: started.inFlight },
      commits: started.commits,
      outbox: { ...outbox.counts, waiting: outbox.size },
      ledger: scorer.ledger(),
    }),
    stop: async (timeoutMs = Math.min(LONGEST_STOP_MS, scorer.timeoutMs + DELIVERY_MS)) => {
      http.close()
      await started.stop(timeoutMs)
      await outbox.shutdown()
      await metrics.shutdown()
      await scorer.shutdown()
    },
  }
}

function monotonicMs(): number {
  return performance.now()
}
