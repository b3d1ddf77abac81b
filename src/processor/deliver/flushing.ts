import type { WorkSteps } from '../../scoring/background.ts'
import { unref } from '../../scoring/keep-process-alive.ts'
import type { TraceBuffer } from '../../runs/buffer/trace-buffer.ts'
import { isRecord } from '../../spans/json.ts'
import type { Engine } from '../../engine/engine.ts'
import type { DelayedExport } from './delayed-export.ts'
import { holdShutdown } from './hold-shutdown.ts'
import { SharedWork } from './shared-work.ts'
import { countUnsentSpans } from '../attach/other-processors.ts'
import type { ProviderSink } from '../../emit/provider-sink.ts'
import type { ScoreMetrics } from '../../emit/score-metrics.ts'
import type { ResolvedOptions } from '../../engine/config/options.ts'
import type { OtherProcessors } from '../attach/other-processors.ts'
import type { Providers } from '../attach/tracer-providers.ts'
import type { Reporter } from '../../engine/reporter.ts'
import type { Flushable } from '../../spans/sdk-types.ts'

/** Maximum milliseconds that the processors behind may take to flush or shut down, like the SDK's own limit for a flush. */
const DOWNSTREAM_TIMEOUT_MS = 30_000

/** Milliseconds of the caller's limit that are left to exporters, of which a fifth is left to the caller. */
const EXPORT_MS = 5000

/** Longer timers of Node.js end at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1

/** While a flush waits for scores, later ones gather for so many milliseconds and are one: a server that flushes after each request makes hundreds. */
const GATHER_MS = 50

/** Milliseconds of work in the turn in which a flush begins. */
const SLICE_MS = 10

/** Milliseconds that the first turn of a shutdown may take. What is done in it does not depend on what else is shut down beside us. */
const FIRST_TURN_MS = 20

const CURE =
  'They were shut down before scoring was. Shut the tracer provider down first, as NodeSDK.shutdown() does, or await forceFlush() before.'

/** What is flushed and shut down. */
export interface FlushingParts {
  readonly options: ResolvedOptions
  readonly engine: Engine
  readonly buffer: Pick<TraceBuffer, 'flush' | 'settleAgents' | 'giveUpWaiting'>
  readonly held: DelayedExport
  readonly metrics: ScoreMetrics
  readonly sink: Pick<ProviderSink, 'beginShutdown' | 'lostEvents' | 'lateSpansOfShutdown'>
  readonly providers: Providers
  readonly reporter: Reporter
  /** The provider's other processors, which export our late spans. */
  readonly otherProcessors: () => OtherProcessors
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
  /** Servers flush after each request, so hundreds of flushes may be under way: they share what they do. */
  readonly #settling: SharedWork
  readonly #delivering: SharedWork
  /** Flushes that wait for scores. */
  #waiting = 0
  /** The next flush, for all who ask before it begins. */
  #next: { readonly limitMs: number; readonly flush: Promise<void> } | undefined

  constructor(parts: FlushingParts) {
    this.#parts = parts
    this.#settling = new SharedWork(() => this.#settle(parts.buffer.flush(), SLICE_MS))
    this.#delivering = new SharedWork(() => this.#deliver())
  }

  /**
   * Resolves before the caller gives up, because the caller's own flush would reject: Sentry's does after half a second. What takes longer
   * goes on, and is delivered later.
   *
   * @param stopped the end of scoring, if it has begun
   * @param limitMs milliseconds after which the caller gives up
   */
  flush(stopped: Promise<void> | undefined, limitMs: number): Promise<void> {
    if (stopped !== undefined || this.#waiting === 0 || limitMs < 2 * GATHER_MS)
      return this.#flushWithin(stopped, limitMs)
    if (this.#next?.limitMs !== limitMs) this.#next = { limitMs, flush: this.#flushSoon(limitMs) }
    return this.#next.flush
  }

  async #flushSoon(limitMs: number): Promise<void> {
    await new Promise((resolve) => {
      setTimeout(resolve, GATHER_MS)
    })
    if (this.#next?.limitMs === limitMs) this.#next = undefined
    await this.#flushWithin(undefined, limitMs - GATHER_MS)
  }

  async #flushWithin(stopped: Promise<void> | undefined, limitMs: number): Promise<void> {
    const exportMs = Math.min(limitMs / 2, EXPORT_MS)
    const flushed = this.#parts.reporter.settle('forceFlush', async () => {
      if (stopped !== undefined) await stopped
      await this.#flush(limitMs - exportMs)
    })
    await settlesWithin(flushed, Math.min(limitMs - exportMs / 5, LONGEST_TIMER_MS))
  }

  /** @param judgesMs maximum milliseconds to wait for judges */
  async #flush(judgesMs: number): Promise<void> {
    const { options, engine } = this.#parts
    const done = this.#settling.done().then(() => engine.tasks.settled())
    const waitMs = Math.min(options.flushTimeoutMs, judgesMs)
    this.#waiting += 1
    if (waitMs > 0) await settlesWithin(done, waitMs, true)
    this.#waiting -= 1
    await this.#delivering.done()
  }

  /** Writes what is in, and flushes what is behind. */
  async #deliver(): Promise<void> {
    const { options, held, metrics, providers, otherProcessors } = this.#parts
    await this.#doFirst('forceFlush', held.releaseInSteps())
    metrics.flush()
    const { before, after } = otherProcessors()
    const behind: readonly Flushable[] = options.next === undefined ? [...before, ...after] : [options.next]
    // All signals are flushed at the same time, so that the timeout of an unreachable endpoint passes only once.
    await this.#all('forceFlush', [...behind, ...providers.flushable()])
  }

  /** How many ended spans wait in batch processors behind or beside scoring. */
  unsentSpans(): number {
    const { options, otherProcessors } = this.#parts
    const { before, after } = otherProcessors()
    return countUnsentSpans([options.next, ...before, ...after])
  }

  /** Flushes only the processors behind. */
  async flushNext(): Promise<void> {
    const { next } = this.#parts.options
    if (next !== undefined) await this.#all('forceFlush', [next])
  }

  /**
   * Ends all jobs within `shutdownTimeoutMs`. Small runs are finished before the first `await`. Large runs take several turns of the event
   * loop, as judges do: loggers, and processors that are listed after this one, end when they are done, and the last collection of metrics
   * waits for them. What still comes too late is counted.
   */
  async drain(): Promise<void> {
    const { metrics, sink, options, providers, otherProcessors, reporter } = this.#parts
    const over = Promise.withResolvers<void>()
    if (options.emit.metrics) reporter.guard('shutdown', () => metrics.holdCollections(over.promise))
    reporter.guard('shutdown', () => sink.beginShutdown())
    const loggers = options.emit.events ? providers.loggerProvider() : undefined
    const processors = options.next === undefined ? otherProcessors().after : []
    for (const each of [...processors, ...(loggers === undefined ? [] : [loggers])]) holdShutdown(each, over.promise)
    await reporter.settle('shutdown', () => this.#finish())
    reporter.guard('shutdown', () => metrics.flush())
    over.resolve()
    this.#reportLost()
  }

  async #finish(): Promise<void> {
    const { options, buffer, engine, held, metrics } = this.#parts
    const agents = buffer.settleAgents()
    engine.tasks.beginShutdown()
    const done = this.#settle(inTurn(agents, buffer.giveUpWaiting()), FIRST_TURN_MS).then(() => engine.tasks.settled())
    metrics.flush()
    if (options.shutdownTimeoutMs > 0) await settlesWithin(done, options.shutdownTimeoutMs, true)
    await this.#doFirst('shutdown', engine.tasks.endShutdown())
    // The runs of agents that are left are counted without being read; model calls that no agent made are still open.
    await this.#doFirst('shutdown', agents)
    await this.#doFirst('shutdown', held.releaseInSteps())
  }

  /** Does what is to be done before all other work in the background: as much as there is time for now, the rest in later turns. */
  async #doFirst(what: string, steps: WorkSteps): Promise<void> {
    const { engine, reporter } = this.#parts
    const done = reporter.settle(what, () => engine.background.run(steps, true))
    engine.background.work(SLICE_MS)
    await done
  }

  /** Names the scores that did not reach what was shut down at the same time. */
  #reportLost(): void {
    const { options, otherProcessors, sink, reporter } = this.#parts
    const { before, after } = otherProcessors()
    // Processors that are listed after this one have waited. Of others, it is not known whether they still run.
    const haveWaited = options.next !== undefined || (before.length === 0 && after.length > 0)
    const lost = [
      sink.lostEvents > 0 ? `${sink.lostEvents} gen_ai.evaluation.result events` : '',
      !haveWaited && sink.lateSpansOfShutdown > 0
        ? `${sink.lateSpansOfShutdown} spans with scores, if processors that are listed before this one were shut down, too`
        : '',
    ].filter((each) => each !== '')
    if (lost.length > 0)
      reporter.notify('SPANSCORE_LATE_SCORES', `Lost at the shutdown: ${lost.join(', and ')}. ${CURE}`)
  }

  /** Settles runs, with that many milliseconds now. */
  async #settle(settling: WorkSteps, nowMs: number): Promise<void> {
    const { engine, reporter } = this.#parts
    const settled = reporter.settle('Settling runs', () => engine.background.run(settling))
    engine.background.work(nowMs)
    await settled
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

/** Takes the steps of the first, then those of the second. The first may be gone on with by itself. */
function* inTurn(first: WorkSteps, second: WorkSteps): WorkSteps {
  while (first.next().done !== true) yield
  yield* second
}

async function attempt(reporter: Reporter, what: string, run: () => Promise<void> | undefined): Promise<void> {
  try {
    await run()
  } catch (error) {
    reporter.threw(what, error)
    const failure = deliveryFailure(error)
    // Our flush never rejects, so without this notice an application would not learn that nothing was exported.
    if (failure !== undefined) reporter.notify('SPANSCORE_EXPORT_FAILED', exportFailed(failure))
  }
}

function exportFailed(failure: string): string {
  return `An exporter could not deliver to its endpoint (${failure}): spans, events or metrics are lost. Check OTEL_EXPORTER_OTLP_ENDPOINT, and what listens there.`
}

/** What an error of an exporter, or its causes, say of its endpoint, such as `ECONNREFUSED at 127.0.0.1:4318` or `HTTP 404`. */
function deliveryFailure(error: unknown): string | undefined {
  if (!isRecord(error)) return undefined
  const errors: readonly unknown[] = Array.isArray(error['errors']) ? error['errors'] : []
  // The errors of single addresses say more than the one that joins them.
  for (const each of [...errors, error['cause'], error]) {
    if (!isRecord(each)) continue
    const { code, address, port, hostname } = each
    if (typeof code === 'number' && code >= 400 && code < 600) return `HTTP ${code}`
    if (typeof code !== 'string' || !/^(?:E(?:CONN|HOST|NET|TIMEDOUT|NOTFOUND|AI_)|HPE_)[A-Z_]*$/.test(code)) continue
    if (typeof address === 'string') return `${code} at ${address}:${String(port)}`
    return typeof hostname === 'string' ? `${code} for ${hostname}` : code
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
  let timer: ReturnType<typeof setTimeout> | undefined
  const timeout = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), timeoutMs)
    if (!keepsProcessAlive) unref(timer)
  })
  try {
    return await Promise.race([promise.then(inTime, inTime), timeout])
  } finally {
    clearTimeout(timer)
  }
}

function inTime(): true {
  return true
}
