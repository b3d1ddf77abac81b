/** Why a job was dropped before it was started. */
export type DropReason =
  /** There were more jobs than the queue holds. */
  | 'queue-full'
  /** It waited for longer than `maxAgeMs`. */
  | 'expired'

/** A job in the queue. */
export interface QueueJob {
  /** Jobs with a higher priority start first. Jobs of equal priority start in the order in which they were added. */
  readonly priority: 0 | 1
  /** Does the work. It must settle and must not reject: the job itself handles time limits and errors. */
  start(): Promise<void>
  /** Called instead of `start` if the job is dropped. */
  dropped(reason: DropReason): void
}

/** Bounds of a queue. */
export interface QueueOptions {
  /** Jobs that run at the same time. */
  readonly concurrency: number
  /** Jobs that wait; running ones do not count. */
  readonly capacity: number
  /** Milliseconds after which a waiting job is not worth starting. */
  readonly maxAgeMs: number
  /** A monotonic clock, in milliseconds. */
  readonly now: () => number
}

interface Waiting {
  readonly job: QueueJob
  readonly sinceMs: number
}

/**
 * A bounded queue with two priorities. Every job that is added is either started or dropped with a reason, exactly once.
 *
 * If it is full, a new job replaces the newest waiting job of a lower priority, because the oldest are closest to their turn. If there
 * is none, the new job is dropped.
 */
export class ScoringQueue {
  readonly #options: QueueOptions
  /** By priority, each in order of arrival. */
  readonly #waiting: readonly [Waiting[], Waiting[]] = [[], []]
  #running = 0

  constructor(options: QueueOptions) {
    this.#options = options
  }

  /** Jobs that wait for their turn. */
  get size(): number {
    return this.#waiting[0].length + this.#waiting[1].length
  }

  add(job: QueueJob): void {
    if (this.size >= this.#options.capacity && this.#running >= this.#options.concurrency) {
      const victim = this.#newestBelow(job.priority)
      if (!victim) {
        job.dropped('queue-full')
        return
      }
      victim.dropped('queue-full')
    }
    this.#waiting[job.priority].push({ job, sinceMs: this.#options.now() })
    this.#startNext()
  }

  #newestBelow(priority: number): QueueJob | undefined {
    for (const lane of this.#waiting.slice(0, priority)) {
      const newest = lane.pop()
      if (newest) return newest.job
    }
    return undefined
  }

  /** Drops the jobs that have expired. That is soon enough when a job ends or is added: running ones end in limited time. */
  #dropExpired(): void {
    const newestMs = this.#options.now() - this.#options.maxAgeMs
    for (const lane of this.#waiting) {
      for (let first = lane[0]; first !== undefined && first.sinceMs <= newestMs; first = lane[0]) {
        lane.shift()
        first.job.dropped('expired')
      }
    }
  }

  #startNext(): void {
    this.#dropExpired()
    while (this.#running < this.#options.concurrency) {
      const next = this.#waiting[1].shift() ?? this.#waiting[0].shift()
      if (!next) break
      this.#running += 1
      void this.#finish(next.job)
    }
  }

  async #finish(job: QueueJob): Promise<void> {
    try {
      await job.start()
    } catch {
      // A job handles its own errors, so the queue always continues.
    } finally {
      this.#running -= 1
      this.#startNext()
    }
  }
}
