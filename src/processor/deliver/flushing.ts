import { startTimer, stopTimer } from '../../scoring/host-timers.ts'
import type { Timer } from '../../scoring/host-timers.ts'
import { unref } from '../../scoring/keep-process-alive.ts'
import { isRecord } from '../../spans/json.ts'
import type { LargeRuns } from '../large-runs.ts'
import type { HeldSpans } from './held-spans.ts'
import type { ScoreMetrics } from '../../emit/score-metrics.ts'
import type { ResolvedOptions } from '../config/options.ts'
import type { Providers } from '../attach/tracer-providers.ts'
import type { Reporter } from '../run/reporter.ts'
import type { ScoringJobs } from '../run/scoring-jobs.ts'
import type { Flushable } from '../sdk-types.ts'

/** Most milliseconds that the processors behind may take to flush or shut down, like the SDK's own limit for a flush. */
const DOWNSTREAM_TIMEOUT_MS = 30_000

/** What is flushed and shut down. */
export interface FlushingParts {
  readonly options: ResolvedOptions
  readonly jobs: ScoringJobs
  /** Large runs, which are read over several turns of the event loop before they are counted. */
  readonly large: Pick<LargeRuns, 'settled' | 'finish'>
  readonly held: HeldSpans
  readonly metrics: ScoreMetrics
  readonly providers: Providers
  readonly reporter: Reporter
  /** The provider's other processors, which export our late spans. */
  readonly otherProcessors: () => readonly Flushable[]
}

/**
 * Flushes and shuts down in the order that loses nothing: first the judges, whose scores become spans, events and metrics, then the
 * processors behind, the loggers and the meters. A provider flushes all its processors at the same time, so what we write while draining
 * would otherwise stay in their queues.
 */
export class Flushing {
  readonly #parts: FlushingParts
  /** A batch processor's second flush resolves while its first still exports, so every flush waits for earlier ones. */
  readonly #underWay = new Set<Promise<boolean>>()

  constructor(parts: FlushingParts) {
    this.#parts = parts
  }

  async flush(): Promise<void> {
    const { options, jobs, large, held, metrics, providers, reporter, otherProcessors } = this.#parts
    if (options.flushTimeoutMs > 0) {
      await settlesWithin(Promise.all([jobs.settled(), large.settled()]), options.flushTimeoutMs, true)
    }
    reporter.guard('forceFlush', () => large.finish())
    held.releaseAll()
    metrics.flush()
    const behind: readonly Flushable[] = options.next === undefined ? otherProcessors() : [options.next]
    // All signals are flushed at the same time, so that the timeout of an unreachable endpoint passes only once.
    await this.#all('forceFlush', [...behind, ...providers.flushable()])
  }

  /** Flushes only the processors behind. */
  async flushNext(): Promise<void> {
    const { next } = this.#parts.options
    if (next !== undefined) await this.#all('forceFlush', [next])
  }

  /**
   * Ends all jobs within `shutdownTimeoutMs`. The part before the first `await` is synchronous, so that loggers and meters that are shut
   * down at the same time still accept its scores.
   */
  async drain(): Promise<void> {
    const { options, jobs, held, metrics, reporter } = this.#parts
    reporter.guard('shutdown', () => jobs.beginShutdown())
    metrics.flush()
    if (options.shutdownTimeoutMs > 0) await settlesWithin(jobs.settled(), options.shutdownTimeoutMs, true)
    reporter.guard('shutdown', () => jobs.endShutdown())
    held.releaseAll()
  }

  async shutdownNext(): Promise<void> {
    const { options, reporter } = this.#parts
    const { next } = options
    if (next === undefined) return
    const done = await settlesWithin(
      attempt(reporter, 'next.shutdown', () => next.shutdown()),
      DOWNSTREAM_TIMEOUT_MS,
    )
    if (!done) reporter.warnOnce('shutdown-timeout', `next.shutdown() took more than ${DOWNSTREAM_TIMEOUT_MS} ms.`)
  }

  async #all(what: string, targets: readonly Flushable[]): Promise<void> {
    const { reporter } = this.#parts
    const before = [...this.#underWay]
    const flushes = targets.map((target) => attempt(reporter, what, () => target.forceFlush?.()))
    const flush = settlesWithin(Promise.all(flushes), DOWNSTREAM_TIMEOUT_MS)
    this.#underWay.add(flush)
    const done = await flush
    this.#underWay.delete(flush)
    await Promise.all(before)
    if (!done) reporter.warnOnce('flush-timeout', `A ${what} behind took more than ${DOWNSTREAM_TIMEOUT_MS} ms.`)
  }
}

async function attempt(reporter: Reporter, what: string, run: () => Promise<void> | undefined): Promise<void> {
  try {
    await run()
  } catch (error) {
    reporter.threw(what, error)
    const code = networkCode(error)
    // Our flush never rejects, so without this notice an application would not learn that nothing was exported.
    if (code !== undefined) reporter.notify('SPANSCORE_EXPORT_FAILED', exportFailed(code))
  }
}

function exportFailed(code: string): string {
  return `An exporter could not reach its endpoint (${code}): spans, events or metrics are lost. Check OTEL_EXPORTER_OTLP_ENDPOINT, and what listens there.`
}

/** The code of a network error, such as `ECONNREFUSED`, from the error or its causes. */
function networkCode(error: unknown): string | undefined {
  if (!isRecord(error)) return undefined
  const errors: readonly unknown[] = Array.isArray(error['errors']) ? error['errors'] : []
  for (const each of [error, error['cause'], ...errors]) {
    const code = isRecord(each) ? each['code'] : undefined
    if (typeof code === 'string' && /^E(?:CONN|HOST|NET|TIMEDOUT|NOTFOUND|AI_)[A-Z]*$/.test(code)) return code
  }
  return undefined
}

/**
 * Waits for a promise, for at most that many milliseconds. Returns whether it settled in time; never rejects.
 *
 * @param keepsProcessAlive whether the application awaits this. Then the process must not exit meanwhile, although nothing else may keep it
 * alive: a judge that waits after a 429 has only an idle connection.
 */
async function settlesWithin(
  promise: Promise<unknown>,
  timeoutMs: number,
  keepsProcessAlive = false,
): Promise<boolean> {
  let timer: Timer | undefined
  const timeout = new Promise<false>((resolve) => {
    timer = startTimer(() => resolve(false), timeoutMs)
    if (!keepsProcessAlive) unref(timer)
  })
  try {
    return await Promise.race([promise.then(settled, settled), timeout])
  } finally {
    stopTimer(timer)
  }
}

function settled(): true {
  return true
}
