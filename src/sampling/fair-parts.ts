/** For so many milliseconds demand is remembered. */
const MEMORY_MS = 20_000
/** A demand is not extrapolated from less than this. */
const LEAST_SEEN_MS = 6000
/** A service leaves its part to others if it asks for nothing for so long, or for some of the times between its requests if that is longer. */
const IDLE_MS = 5000
const IDLE_GAPS = 3
/** A service that asks for nothing for so long is forgotten. */
const FORGOTTEN_MS = 60_000
/** What a service leaves of its part it may use later, as much as its part of this time. */
const SAVED_MS = 15_000
/** Services that are told apart. Names that are made up beyond them share one part. */
const MAX_SERVICES = 100
const OTHERS = '\n'

interface OfService {
  readonly sinceMs: number
  /** Scores that it asked for, of which older ones count less. */
  remembered: number
  latestMs: number
  /** Scores that it may have beside its pace. */
  saved: number
  savedMs: number
}

/**
 * Shares judges among services: each gets an equal part of what the budget allows, and what one leaves goes to the others. A service that has come
 * just now begins without savings, so that its burst takes nothing from those that were there.
 */
export class FairParts {
  readonly #services = new Map<string, OfService>()
  #level = { atMs: Number.NEGATIVE_INFINITY, pace: 0, perMs: Number.POSITIVE_INFINITY }

  /** Whether several services ask for judges, so that there is something to share. */
  isShared(nowMs: number): boolean {
    if (this.#services.size < 2) return false
    this.#forget(nowMs)
    return this.#services.size > 1
  }

  /** A service asks for a score. */
  want(service: string, nowMs: number): void {
    const known = this.#known(service)
    if (known === undefined) {
      const name = this.#services.size < MAX_SERVICES ? service : OTHERS
      const saved = this.#services.size === 0 ? Number.POSITIVE_INFINITY : 1
      this.#services.set(name, { sinceMs: nowMs, remembered: 1, latestMs: nowMs, saved, savedMs: nowMs })
      return
    }
    known.remembered = rememberedAt(known, nowMs) + 1
    known.latestMs = nowMs
  }

  /**
   * The factor, above 0 and at most 1, by which the rates of a service must be multiplied, so that it takes its part.
   *
   * @param pacePerMs scores that the budget allows in a millisecond, all services together
   */
  factor(service: string, pacePerMs: number, nowMs: number): number {
    const known = this.#known(service)
    if (known === undefined || pacePerMs === Number.POSITIVE_INFINITY) return 1
    const level = this.#levelAt(pacePerMs, nowMs)
    const allowed = level + this.#savedOf(known, level, nowMs) / SAVED_MS
    return Math.min(1, allowed / demandOf(known, nowMs))
  }

  /** Takes a score from the part of a service. @returns whether it has one left */
  take(service: string, pacePerMs: number, nowMs: number): boolean {
    const known = this.#known(service)
    if (known === undefined || pacePerMs === Number.POSITIVE_INFINITY) return true
    const saved = this.#savedOf(known, this.#levelAt(pacePerMs, nowMs), nowMs)
    if (saved < 1) return false
    known.saved = saved - 1
    return true
  }

  #known(service: string): OfService | undefined {
    return this.#services.get(service) ?? this.#services.get(OTHERS)
  }

  #savedOf(known: OfService, level: number, nowMs: number): number {
    known.saved = Math.min(known.saved + (nowMs - known.savedMs) * level, Math.max(1, level * SAVED_MS))
    known.savedMs = nowMs
    return known.saved
  }

  /** What each service may take in a millisecond, so that together they take the pace: who wants less leaves the rest. */
  #levelAt(pace: number, nowMs: number): number {
    // It changes slowly, and is asked for with every run.
    if (nowMs - this.#level.atMs < 100 && this.#level.pace === pace) return this.#level.perMs
    const demands = [...this.#services.values()]
      .filter((each) => isActive(each, nowMs))
      .map((each) => demandOf(each, nowMs))
      .toSorted((one, other) => one - other)
    let left = pace
    let perMs = pace
    for (const [index, demand] of demands.entries()) {
      perMs = left / (demands.length - index)
      if (demand >= perMs) break
      left -= demand
    }
    this.#level = { atMs: nowMs, pace, perMs }
    return perMs
  }

  #forget(nowMs: number): void {
    for (const [name, { latestMs }] of this.#services) if (nowMs - latestMs > FORGOTTEN_MS) this.#services.delete(name)
  }
}

function isActive(known: OfService, nowMs: number): boolean {
  const gapMs = 1 / demandOf(known, known.latestMs)
  return nowMs - known.latestMs < Math.max(IDLE_MS, IDLE_GAPS * gapMs)
}

/** Scores that a service asks for in a millisecond. */
function demandOf(known: OfService, nowMs: number): number {
  const seenMs = Math.max(LEAST_SEEN_MS, nowMs - known.sinceMs)
  return rememberedAt(known, nowMs) / MEMORY_MS / (1 - Math.exp(-seenMs / MEMORY_MS))
}

function rememberedAt({ remembered, latestMs }: OfService, nowMs: number): number {
  return remembered * Math.exp(-Math.max(0, nowMs - latestMs) / MEMORY_MS)
}
