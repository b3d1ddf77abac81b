/** A window is divided into this many slots. The amounts of one slot leave the window together. */
const SLOTS_PER_WINDOW = 60

/** One slot more than a window has, because a window may begin and end in the middle of a slot. */
const SLOTS = SLOTS_PER_WINDOW + 1

/** Demand is estimated from the newest twelfth of a window. */
const DEMAND_SLOTS = 5

/** The planned pace is a little below the limit, so that random fluctuation rarely reaches it. */
const AIM = 0.97

/** If at most this many scores fit into a window, chance decides when it is full, and an even pace cannot be planned. */
const FEW_SCORES = 100

/** Demand is remembered for one window, or for the time that this many scores take at the limit if that is longer. */
const REMEMBERED_SCORES = 20

/** Before this share of a window has passed, demand is not extrapolated to a whole window: nothing may follow a burst. */
const SETTLING_SHARE = 0.4

/** If few scores fit into a window, this share of the plan is admitted at the full rate: a dozen runs in a second are all scored. */
const FREE_SHARE = 0.6

/** If nothing is left to spend, this share of the lasting pace is still admitted, so that every run has a chance. */
const FLOOR = 0.1

/** The share of chosen runs that may be refused because the window happens to be full. */
const REFUSED_SHARE = 0.02

/** How much the actual cost of one score moves the estimates. */
const LEARNING_RATE = 0.05

/**
 * One limit over a rolling window: no window of this length holds more spending than `limit`.
 *
 * It also plans an even pace: `factor` says by how much to thin the demand, so that the limit rarely has to refuse. The factor
 * depends only on other runs and is never 0, so it can be part of a run's inclusion probability. Weights make up for thinned
 * runs; a chosen run that is refused counts as lost.
 *
 * A token bucket would be shorter. It keeps the limit in every window only if it is filled by what it cannot hold: of 60 calls a minute, with
 * room for a burst of 24, only 36 a minute would last.
 *
 * Times are milliseconds of a clock that does not go back.
 */
export class RollingLimit {
  /** It may change at any time; what was spent stays spent. */
  limit: number
  readonly windowMs: number
  readonly #slotMs: number
  readonly #spent = new Float64Array(SLOTS)
  readonly #wanted = new Float64Array(SLOTS)
  /** The requested amounts that were admitted at the full rate. */
  readonly #free = new Float64Array(SLOTS)
  #used = 0
  #wantedInWindow = 0
  #freeInWindow = 0
  /** The number of the newest slot, counted from the clock's zero. */
  #newest = 0
  /** The actual cost of a score, as a share of its reservation. It converts demand, which is counted in reservations. */
  #takenShare = 1
  /** The moving average of reservations for one score. */
  #reservedPerScore = 0
  /** The sum of requested amounts, in which older ones count less. */
  #remembered = 0
  #rememberedAtMs = 0
  #sinceMs: number | undefined
  #paced: { readonly scores: number; readonly share: number } = { scores: 0, share: 0 }

  /** @param limit `Infinity` removes it. */
  constructor(limit: number, windowMs: number) {
    this.limit = limit
    this.windowMs = windowMs
    this.#slotMs = windowMs / SLOTS_PER_WINDOW
  }

  /** Records the demand for a score, whether or not it will be admitted. */
  want(amount: number, nowMs: number): void {
    const slot = this.#moveTo(nowMs)
    this.#reservedPerScore += (amount - this.#reservedPerScore) * (this.#reservedPerScore === 0 ? 1 : LEARNING_RATE)
    if (this.#isFree(amount)) {
      add(this.#free, slot, amount)
      this.#freeInWindow += amount
    }
    add(this.#wanted, slot, amount)
    this.#wantedInWindow += amount
    // Demand from before a pause says nothing about the demand after it.
    if (nowMs - this.#rememberedAtMs > this.#memoryMs()) {
      this.#sinceMs = nowMs
      this.#remembered = 0
    }
    this.#sinceMs ??= nowMs
    this.#remembered = this.#rememberedNow(nowMs) + amount
    this.#rememberedAtMs = Math.max(this.#rememberedAtMs, nowMs)
  }

  /** Whether there is room for this amount. */
  fits(amount: number, nowMs: number): boolean {
    this.#moveTo(nowMs)
    // Rounding errors in sums of fractions of a cent must not refuse a score.
    return this.#used + amount <= this.limit * (1 + 1e-9)
  }

  /** Books an amount, and returns its slot for `settle`. */
  spend(amount: number, nowMs: number): number {
    const slot = this.#moveTo(nowMs)
    add(this.#spent, slot, amount)
    this.#used += amount
    return slot
  }

  /** Replaces a reservation by the actual cost, in the slot where it was booked. */
  settle(slot: number, reserved: number, taken: number): void {
    if (reserved > 0) this.#takenShare += (taken / reserved - this.#takenShare) * LEARNING_RATE
    if (this.#newest - slot >= SLOTS) return
    add(this.#spent, slot, taken - reserved)
    this.#used += taken - reserved
  }

  /** The spending in the window, as a share of the limit. */
  usedRatio(nowMs: number): number {
    this.#moveTo(nowMs)
    return this.limit === 0 ? 1 : Math.max(0, this.#used / this.limit)
  }

  /** The factor, above 0 and at most 1, by which rates must be multiplied to spend the rest of the window evenly. */
  factor(nowMs: number): number {
    this.#moveTo(nowMs)
    const scores = this.#scoresPerWindow()
    const lasting = this.#lastingDemand(nowMs) * this.#takenShare
    if (!(lasting > 0) || !(scores >= 1) || scores === Number.POSITIVE_INFINITY) return 1
    if (scores <= FEW_SCORES) return this.#factorOfFew(scores, lasting)
    const pace = this.limit / lasting
    // The first half of a limit is spent freely, the second half evenly.
    if (this.#used < this.limit / 2) return 1
    const demand = this.#demandPerSlot(nowMs) * this.#takenShare
    const even = demand > 0 ? (AIM * this.#affordablePerSlot()) / demand : 1
    return Math.min(1, Math.max(even, FLOOR * Math.min(1, pace)))
  }

  /** How many scores this limit allows in a millisecond, if they are spread evenly. */
  pacePerMs(nowMs: number): number {
    this.#moveTo(nowMs)
    const scores = this.#scoresPerWindow()
    if (!(scores >= 1)) return this.limit === 0 ? 0 : Number.POSITIVE_INFINITY
    if (scores <= FEW_SCORES) return (AIM * scores) / this.windowMs
    // The first half of a limit is spent freely.
    if (scores === Number.POSITIVE_INFINITY || this.#used < this.limit / 2) return Number.POSITIVE_INFINITY
    return (AIM * this.#affordablePerSlot()) / (this.#reservedPerScore * this.#takenShare) / this.#slotMs
  }

  /** The factor if few scores fit into a window: what is admitted at the full rate is subtracted from the plan and from the demand. */
  #factorOfFew(scores: number, lasting: number): number {
    if (this.#isFree(this.#reservedPerScore)) return 1
    const planned = this.#pacedShare(scores) * this.limit
    const free = this.#freeInWindow * this.#takenShare
    if (lasting <= free) return 1
    return Math.min(1, Math.max(planned - free, FLOOR * planned) / (lasting - free))
  }

  /** Whether the window has so little demand, this amount included, that it can be admitted at the full rate. */
  #isFree(amount: number): boolean {
    const scores = this.#scoresPerWindow()
    if (!(scores >= 1) || scores > FEW_SCORES) return false
    return (this.#wantedInWindow + amount) * this.#takenShare <= FREE_SHARE * this.#pacedShare(scores) * this.limit
  }

  /** How many scores fit into the limit, at their actual cost. */
  #scoresPerWindow(): number {
    return Math.floor(this.limit / (this.#reservedPerScore * this.#takenShare))
  }

  /** The demand of a whole window, if it continues at the present pace. */
  #lastingDemand(nowMs: number): number {
    if (this.#sinceMs === undefined) return 0
    const memoryMs = this.#memoryMs()
    const seenMs = Math.max(SETTLING_SHARE * this.windowMs, nowMs - this.#sinceMs)
    return (this.#rememberedNow(nowMs) / memoryMs / (1 - Math.exp(-seenMs / memoryMs))) * this.windowMs
  }

  #rememberedNow(nowMs: number): number {
    return this.#remembered * Math.exp(-Math.max(0, nowMs - this.#rememberedAtMs) / this.#memoryMs())
  }

  #memoryMs(): number {
    const scores = this.limit / this.#reservedPerScore
    return this.windowMs * Math.max(1, REMEMBERED_SCORES / Math.max(1, scores))
  }

  #pacedShare(scores: number): number {
    if (this.#paced.scores !== scores) this.#paced = { scores, share: pacedShare(scores) }
    return this.#paced.share
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

  /** Clears the slots that have left the window, and returns the newest. */
  #moveTo(nowMs: number): number {
    const slot = Math.floor(nowMs / this.#slotMs)
    if (slot <= this.#newest) return this.#newest
    for (let next = Math.max(this.#newest + 1, slot - SLOTS + 1); next <= slot; next += 1) {
      const index = next % SLOTS
      this.#used -= this.#spent[index] ?? 0
      this.#wantedInWindow -= this.#wanted[index] ?? 0
      this.#freeInWindow -= this.#free[index] ?? 0
      this.#spent[index] = 0
      this.#wanted[index] = 0
      this.#free[index] = 0
    }
    this.#newest = slot
    return slot
  }
}

/**
 * The share of a limit that can be spent if scores arrive at random and at most `REFUSED_SHARE` of them may find the window full
 * (Erlang's loss formula): .02 of a limit of one score, .21 of three, .5 of ten, .82 of sixty.
 */
function pacedShare(scores: number): number {
  let low = 0
  let high = scores
  for (let step = 0; step < 40; step += 1) {
    const offered = (low + high) / 2
    let blocked = 1
    for (let servers = 1; servers <= scores; servers += 1) blocked = (offered * blocked) / (servers + offered * blocked)
    if (blocked > REFUSED_SHARE) high = offered
    else low = offered
  }
  return low / scores
}

function add(slots: Float64Array, slot: number, amount: number): void {
  const index = slot % SLOTS
  slots[index] = (slots[index] ?? 0) + amount
}
