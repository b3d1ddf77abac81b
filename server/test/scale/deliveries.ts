import { createSink } from '../sink.ts'
import type { Sink } from '../sink.ts'
import { keyOf } from './truth.ts'

/** A score of a run, as it reached the destination. */
interface Delivery {
  readonly key: string
  /** The index of the worker. */
  readonly worker: number
  readonly atMs: number
}

/** Has a destination for each worker, so that tests know when and by which worker a score was delivered. */
export class Deliveries implements AsyncDisposable {
  readonly #sinks: readonly Sink[]
  readonly #all: Delivery[] = []
  readonly #keys = new Set<string>()

  private constructor(sinks: readonly Sink[]) {
    this.#sinks = sinks
  }

  /** @param metricsTo Where metrics are forwarded. If this is omitted, they are kept. */
  static async start(workers: number, metricsTo?: string): Promise<Deliveries> {
    const all: Deliveries = new Deliveries(
      await Promise.all(
        Array.from({ length: workers }, (_, worker) =>
          createSink({
            ...(metricsTo !== undefined && { metricsTo }),
            onLogs: (logs) => {
              const atMs = performance.now()
              for (const log of logs) {
                const key = keyOf(log)
                all.#keys.add(key)
                if (log.attributes['gen_ai.evaluation.name'] === 'tool_errors') all.#all.push({ key, worker, atMs })
              }
            },
          }),
        ),
      ),
    )
    return all
  }

  urlOf(worker: number): string {
    return this.#sinks[worker]?.url ?? ''
  }

  /** All log records with scores. */
  get logs(): Sink['logs'] {
    return this.#sinks.flatMap(({ logs }) => logs)
  }

  /** All late spans. */
  get spans(): Sink['spans'] {
    return this.#sinks.flatMap(({ spans }) => spans)
  }

  /** True if a run has any score. */
  has(key: string): boolean {
    return this.#keys.has(key)
  }

  get runs(): Iterable<string> {
    return this.#keys
  }

  /** The times at which the scores of a run were delivered, in seconds since a given time. */
  timesOf(key: string, sinceMs: number): string {
    return this.#all
      .filter((each) => each.key === key)
      .map(({ worker, atMs }) => `worker ${worker} after ${((atMs - sinceMs) / 1000).toFixed(1)} s`)
      .join(', ')
  }

  /** The runs that a worker delivered in a period before it was killed. */
  settledBefore(worker: number, killedMs: number, withinMs: number): number {
    return this.#all.filter(
      (each) => each.worker === worker && each.atMs <= killedMs && each.atMs > killedMs - withinMs,
    ).length
  }

  /** The maximum number of runs that a worker delivered within any window of this many milliseconds, between two times. */
  mostSettled(worker: number, fromMs: number, untilMs: number, withinMs: number): number {
    const times = this.#all
      .filter((each) => each.worker === worker && each.atMs > fromMs && each.atMs <= untilMs)
      .map(({ atMs }) => atMs)
    return Math.max(0, ...times.map((atMs) => times.filter((each) => each <= atMs && each > atMs - withinMs).length))
  }

  /** The runs that a worker delivered before it was killed, and that another worker or its successor delivered again. */
  repeatedAfter(worker: number, killedMs: number, untilMs: number): number {
    const before = new Set(
      this.#all.filter((each) => each.worker === worker && each.atMs <= killedMs).map(({ key }) => key),
    )
    const after = this.#all.filter(({ key, atMs }) => atMs > killedMs && atMs <= untilMs && before.has(key))
    return new Set(after.map(({ key }) => key)).size
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#sinks.map((sink) => sink[Symbol.asyncDispose]()))
  }
}
