/** A window is divided into this many slots; what was spent in one is forgotten together. */
const SLOTS_PER_WINDOW = 60

/** One more than a window, so that a window that begins and ends within slots is counted whole. */
const SLOTS = SLOTS_PER_WINDOW + 1

/** Demand is estimated from the latest twelfth of a window. */
const DEMAND_SLOTS = 5

/** The pace aims a little below the limit, so that chance alone does not run into it. */
const AIM = 0.97

/** Where fewer scores than this fit into a window, thinning them out would waste the few. */
const WORTH_PACING = 10

/** How much one settled score moves the estimates of what a score takes. */
const LEARNING_RATE = 0.05

/**
 * One limit over a rolling window: in no window of this length is more than `limit` spent.
 *
 * It keeps a pace as well. The first half of a window is free. Beyond it, what is being asked for is held against what can
 * be spent evenly until earlier spending leaves the window, and `factor` says by how much to thin out the demand. That
 * factor follows from other runs alone, so that it can be part of a run's inclusion probability.
 *
 * Times are milliseconds of a clock that does not go back.
 */
export class RollingLimit {
  readonly limit: number
  readonly #slotMs: number
  readonly #spent = new Float64Array(SLOTS)
  readonly #wanted = new Float64Array(SLOTS)
  #used = 0
  /** The newest slot, counted from the clock's zero. */
  #newest = 0
  /** What a score takes, as a share of what was reserved for it: demand is counted in reservations. */
  #takenShare = 1
  /** What is reserved for a score. */
  #reservedPerScore = 0

  /** @param limit `Infinity` lifts it. */
  constructor(limit: number, windowMs: number) {
    this.limit = limit
    this.#slotMs = windowMs / SLOTS_PER_WINDOW
  }

  /** Notes that a score is asked for, whether it will be spent on or not. */
  want(amount: number, nowMs: number): void {
    add(this.#wanted, this.#moveTo(nowMs), amount)
    this.#reservedPerScore += (amount - this.#reservedPerScore) * (this.#reservedPerScore === 0 ? 1 : LEARNING_RATE)
  }

  /** Whether this much may be spent now. */
  fits(amount: number, nowMs: number): boolean {
    this.#moveTo(nowMs)
    // Sums of fractions of a cent carry rounding errors, which are no reason to refuse.
    return this.#used + amount <= this.limit * (1 + 1e-9)
  }

  /** Books an amount and returns the slot that it stands in, for `settle`. */
  spend(amount: number, nowMs: number): number {
    const slot = this.#moveTo(nowMs)
    add(this.#spent, slot, amount)
    this.#used += amount
    return slot
  }

  /** Replaces what was reserved by what it took, in the slot where it was booked. */
  settle(slot: number, reserved: number, taken: number): void {
    if (reserved > 0) this.#takenShare += (taken / reserved - this.#takenShare) * LEARNING_RATE
    if (this.#newest - slot >= SLOTS) return
    add(this.#spent, slot, taken - reserved)
    this.#used += taken - reserved
  }

  /** What the window holds, as a share of the limit. */
  usedRatio(nowMs: number): number {
    this.#moveTo(nowMs)
    return this.limit === 0 ? 1 : Math.max(0, this.#used / this.limit)
  }

  /** Above 0, at most 1: by how much rates are to be lowered, so that the rest of the window is spent evenly. */
  factor(nowMs: number): number {
    this.#moveTo(nowMs)
    if (this.#used < this.limit / 2 || this.limit < WORTH_PACING * this.#reservedPerScore) return 1
    const demand = this.#demandPerSlot(nowMs) * this.#takenShare
    return demand > 0 ? Math.min(1, (AIM * this.#affordablePerSlot()) / demand) : 1
  }

  /** The largest constant spending, per slot, that stays within the limit while earlier spending leaves the window. */
  #affordablePerSlot(): number {
    let available = this.limit - this.#used
    let affordable = Number.POSITIVE_INFINITY
    for (let ahead = 1; ahead <= SLOTS; ahead += 1) {
      available += this.#spent[(this.#newest + ahead) % SLOTS] ?? 0
      affordable = Math.min(affordable, available / ahead)
    }
    return Math.max(0, affordable)
  }

  #demandPerSlot(nowMs: number): number {
    let wanted = 0
    for (let back = 0; back < DEMAND_SLOTS; back += 1) {
      wanted += this.#wanted[(this.#newest - back + SLOTS) % SLOTS] ?? 0
    }
    const begun = Math.min(1, Math.max(0, nowMs / this.#slotMs - this.#newest))
    return wanted / (DEMAND_SLOTS - 1 + begun)
  }

  /** Forgets the slots that have left the window, and returns the newest. */
  #moveTo(nowMs: number): number {
    const slot = Math.floor(nowMs / this.#slotMs)
    if (slot <= this.#newest) return this.#newest
    for (let next = Math.max(this.#newest + 1, slot - SLOTS + 1); next <= slot; next += 1) {
      const index = next % SLOTS
      this.#used -= this.#spent[index] ?? 0
      this.#spent[index] = 0
      this.#wanted[index] = 0
    }
    this.#newest = slot
    return slot
  }
}

function add(slots: Float64Array, slot: number, amount: number): void {
  const index = slot % SLOTS
  slots[index] = (slots[index] ?? 0) + amount
}
