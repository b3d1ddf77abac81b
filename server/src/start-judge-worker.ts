import { jobConfigHash } from './kafka/judges/job-config-hash.ts'
import { JudgeWorker } from './kafka/judges/judge-worker.ts'
import type { JudgeWorkerOptions } from './kafka/judges/judge-worker-options.ts'
import { JudgeScorer } from './score/judge-scorer.ts'
import { JudgeMetrics } from './send/judge-metrics.ts'
import { openWorkerProcess, serveWorkerHealth } from './worker-process.ts'
import type { RunningWorker, WorkerProcessOptions } from './worker-process.ts'

/** Options of a judge worker's process. */
export interface JudgeServerOptions extends JudgeWorkerOptions, WorkerProcessOptions {}

/** Added to the timeout of a score, for its delivery. */
const DELIVERY_MS = 5000
/** An orchestrator gives a process thirty seconds to end. */
const LONGEST_STOP_MS = 25_000

/**
 * Starts a judge worker, which asks judges about runs that workers have chosen, and sends the scores.
 *
 * @throws Error if it cannot start: what was expected, what came, and what to do
 */
export async function startJudgeWorker(options: JudgeServerOptions): Promise<RunningWorker> {
  const { report, config, meters, outbox } = openWorkerProcess(options)
  let worker: JudgeWorker | undefined
  const scorer = new JudgeScorer(config.options, meters, () => worker?.waiting ?? 0)
  if (scorer.scorers.length === 0) {
    throw new Error(`--role judge: expected a configuration with judges, got none in it (${config.source}).`)
  }
  const configHash = jobConfigHash(config.text)
  const started = await JudgeWorker.start(options, { scorer, outbox, configHash, report })
  worker = started
  const metrics = new JudgeMetrics(started, outbox, meters)
  const http = await serveWorkerHealth(options, outbox, started)
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
