import type { LoadedConfig } from './config/load-config.ts'
import { jobConfigHash } from './kafka/judges/job-config-hash.ts'
import { JobWriter } from './kafka/judges/job-writer.ts'
import { Worker } from './kafka/worker.ts'
import type { WorkerOptions } from './kafka/worker.ts'
import { RequestReader } from './receive/read-request.ts'
import type { RecordLimits } from './receive/read-request.ts'
import { ServiceScorer } from './score/service-scorer.ts'
import { WorkerMetrics } from './send/worker-metrics.ts'
import { openWorkerProcess, serveWorkerHealth } from './worker-process.ts'
import type { RunningWorker, WorkerProcessOptions } from './worker-process.ts'

/** Options of a Kafka worker's process. */
export interface WorkerServerOptions extends WorkerOptions, WorkerProcessOptions {
  /** The topic of judge jobs; `undefined` if judges are asked here. */
  readonly jobsTopic: string | undefined
  /** Limits of spans and log records. */
  readonly limits: RecordLimits
}

const STOP_TIMEOUT_MS = 10_000

/**
 * Starts a worker, which reads spans from Kafka, scores whole runs, and sends the scores.
 *
 * @throws Error if it cannot start: what was expected, what came, and what to do
 */
export async function startWorker(options: WorkerServerOptions): Promise<RunningWorker> {
  const { report, config, meters, outbox } = openWorkerProcess(options)
  const jobs = await openJobs({ ...options, report }, config)
  const scorer = new ServiceScorer({ options: config.options, meters, jobs })
  const worker = await Worker.start(options, {
    scorer,
    outbox,
    reader: await RequestReader.create(options.limits),
    report,
    configuration: JSON.stringify([scorer.scorers, config.text, options.traces]),
    take: () => scorer.take(),
    isHeldUp: () => outbox.isFull || jobs?.isFull === true,
  })
  const metrics = new WorkerMetrics(worker, outbox, meters, jobs)
  const http = await serveWorkerHealth(options, outbox, {
    get stuck() {
      return worker.condition.stuck
    },
    get unavailable() {
      return worker.condition.unavailable ?? jobs?.unavailable
    },
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

/** Set if judges are configured, and judge workers should ask them. */
async function openJobs(
  { kafka, jobsTopic, report }: WorkerServerOptions,
  { options, text }: LoadedConfig,
): Promise<JobWriter | undefined> {
  const hasJudges = options.scorers.some((entry) => ('scorer' in entry ? entry.scorer : entry).kind === 'judge')
  if (jobsTopic === undefined || !hasJudges) return undefined
  return JobWriter.start(kafka, { topic: jobsTopic, configHash: jobConfigHash(text), report })
}
