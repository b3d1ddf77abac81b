import { FairParts } from './fair-parts.ts'
import { RollingLimit } from './rolling-limit.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

/** Limits for judges, per process, over rolling windows. `Infinity` removes a limit. */
export interface BudgetLimits {
  /**
   * Maximum judge calls per minute. About half of them may come in one burst. Above the limit, rates are reduced, and the weights
   * of scored runs compensate for it.
   *
   * @default 60
   */
  readonly callsPerMinute: number
  /** Maximum input and output tokens of judges per hour. @default Infinity */
  readonly tokensPerHour: number
  /** Maximum US dollars per 24 hours. Models without a known price do not count. @default 10 */
  readonly usdPerDay: number
  /**
   * The share of all limits that this process may use, such as 1/40 for forty processes.
   *
   * @default 1
   */
  readonly share: number
}

/** The default: 60 calls a minute and 10 US dollars a day. */
export const DEFAULT_BUDGET: BudgetLimits = {
  callsPerMinute: 60,
  tokensPerHour: Number.POSITIVE_INFINITY,
  usdPerDay: 10,
  share: 1,
}

/** Whether all limits have their default. */
export function isDefaultBudget(limits: BudgetLimits): boolean {
  const { callsPerMinute, tokensPerHour, usdPerDay, share } = DEFAULT_BUDGET
  return (
    limits.callsPerMinute === callsPerMinute &&
    limits.tokensPerHour === tokensPerHour &&
    limits.usdPerDay === usdPerDay &&
    limits.share === share
  )
}

/** The cost of one score, all tries together. */
export interface Cost {
  readonly calls: number
  /** Absent where the server did not report them. */
  readonly tokens?: number
  /** Absent where the model's price is unknown. */
  readonly costUsd?: number
}

/** Budget that is reserved for one score. */
export interface Reservation {
  /** Replaces the estimate by the actual cost, which is zero if the judge was not asked after all. Later calls do nothing. */
  settle(taken: Cost): void
}

/** Whether a score is admitted, and if not, why. */
export type BudgetDecision =
  | {
      readonly admitted: true
      /** The rate with which the run's point was compared: the scorer's rate, reduced by the budget. */
      readonly rate: number
      readonly reservation: Reservation
    }
  | {
      readonly admitted: false
      /** `thinned` by a reduced rate, for which weights make up, or `refused` because a limit was reached, for which they do not. */
      readonly reason: 'thinned' | 'refused'
      readonly message: string
    }

/** A request to admit one score. */
export interface BudgetRequest {
  /** The run's `SamplePoint`, between 0 and 1. */
  readonly point: number
  /** The rate of the scorer for this run. The point lies below it. */
  readonly rate: number
  /** `factor()` of the budget. It is read once per run, before the first of its scorers asks. */
  readonly factor: number
  readonly estimate: Cost
  /** The name of the run's service. @default '' */
  readonly service?: string
}

/**
 * Keeps judges within their limits. A limit is spent evenly: before it would have to refuse scores, the budget reduces the rates by a
 * factor that callers record, so that weights stay true. A score is refused before anything is spent on it.
 */
export class Budget {
  #limits: readonly Limit[]
  readonly #parts = new FairParts()
  readonly #now: () => number

  /** @param now Milliseconds of a clock that does not go back, such as `performance.now`. */
  constructor(limits: BudgetLimits, now: () => number) {
    this.#now = now
    this.#limits = toLimits(limits)
  }

  /** Replaces the limits. What was spent before counts against the new ones. */
  change(limits: BudgetLimits): void {
    this.#limits = toLimits(limits).map((limit) => {
      const known = this.#limits.find(({ name }) => name === limit.name)?.window
      // A share of few calls a minute has a longer window, to which spending by the minute cannot be transferred.
      if (known?.windowMs !== limit.window.windowMs) return limit
      known.limit = limit.window.limit
      return { ...limit, window: known }
    })
  }

  /**
   * The factor, from 0 to 1, by which the rates of a service are multiplied at this moment. It depends only on earlier runs. Of several services,
   * each gets an equal part, and what one leaves goes to the others.
   */
  factor(service = ''): number {
    const nowMs = this.#now()
    if (this.#parts.isShared(nowMs)) return this.#parts.factor(service, this.#paceAt(nowMs), nowMs)
    return Math.min(...this.#limits.map((limit) => limit.window.factor(nowMs)))
  }

  /** Whether a service may be judged at its full rate, and no limit is nearly used up. */
  isFree(service: string): boolean {
    return this.factor(service) >= 1 && this.usedRatio() < NEARLY_USED
  }

  /** A little is left for those who come back after a pause. */
  #paceAt(nowMs: number): number {
    return SHARED_PACE * Math.min(...this.#limits.map((limit) => limit.window.pacePerMs(nowMs)))
  }

  /** Admits a score and reserves its estimate, or returns the reason why not. */
  admit(request: BudgetRequest): BudgetDecision {
    const nowMs = this.#now()
    const { service = '' } = request
    for (const limit of this.#limits) limit.window.want(limit.of(request.estimate) ?? 0, nowMs)
    this.#parts.want(service, nowMs)
    const rate = request.rate * request.factor
    if (request.point >= rate) {
      return {
        admitted: false,
        reason: 'thinned',
        message: `More scores are requested than the budget allows, so it admits ${percent(rate)} of runs.`,
      }
    }
    if (this.#parts.isShared(nowMs) && !this.#parts.take(service, this.#paceAt(nowMs), nowMs)) {
      const message = 'The service has used its part of the budget, which it shares with other services.'
      return { admitted: false, reason: 'refused', message }
    }
    const reservation = this.reserve(request.estimate)
    return reservation === undefined
      ? { admitted: false, reason: 'refused', message: this.#refusal(request.estimate, nowMs) }
      : { admitted: true, rate, reservation }
  }

  /** Reserves an estimate in every limit. If one of them has no room for it, nothing is reserved and the result is `undefined`. */
  reserve(estimate: Cost): Reservation | undefined {
    const nowMs = this.#now()
    if (this.#blocking(estimate, nowMs) !== undefined) return undefined
    const booked = this.#limits.map(({ of, window }) => {
      const reserved = of(estimate)
      return { of, window, reserved, slot: window.spend(reserved ?? 0, nowMs) }
    })
    let settled = false
    return {
      settle(taken) {
        if (settled) return
        settled = true
        for (const { of, window, reserved, slot } of booked) {
          // If the cost is known only before or only after the call, that one counts.
          window.settle(slot, reserved ?? 0, of(taken) ?? reserved ?? 0)
        }
      },
    }
  }

  /** How much of the tightest limit's window is used, 0 to 1. */
  usedRatio(): number {
    const nowMs = this.#now()
    return Math.max(...this.#limits.map((limit) => limit.window.usedRatio(nowMs)))
  }

  #blocking(estimate: Cost, nowMs: number): Limit | undefined {
    return this.#limits.find((limit) => !limit.window.fits(limit.of(estimate) ?? 0, nowMs))
  }

  #refusal(estimate: Cost, nowMs: number): string {
    const limit = this.#blocking(estimate, nowMs)
    if (limit === undefined) return 'The budget is used up.'
    const amount = limit.of(estimate) ?? 0
    return amount > limit.window.limit
      ? `One score is estimated at ${amount}, more than all of budget.${limit.name} (${limit.given}, times share); raise it.`
      : `budget.${limit.name} (${limit.given}) is used up; raise it, or lower the scorer's sample.`
  }
}

/** The share of the pace of all limits that services share. */
const SHARED_PACE = 0.9

/** Above this share of a limit, what is not urgent waits. */
const NEARLY_USED = 0.8

interface Limit {
  readonly name: string
  /** The limit that the application configured. */
  readonly given: number
  readonly of: (cost: Cost) => number | undefined
  readonly window: RollingLimit
}

function toLimits(limits: BudgetLimits): readonly Limit[] {
  const { callsPerMinute, tokensPerHour, usdPerDay, share } = limits
  return [
    { name: 'callsPerMinute', given: callsPerMinute, of: (cost) => cost.calls, window: calls(limits) },
    {
      name: 'tokensPerHour',
      given: tokensPerHour,
      of: (cost) => cost.tokens,
      window: new RollingLimit(tokensPerHour * share, HOUR_MS),
    },
    {
      name: 'usdPerDay',
      given: usdPerDay,
      of: (cost) => cost.costUsd,
      window: new RollingLimit(usdPerDay * share, DAY_MS),
    },
  ]
}

/** Half of a limit of this many calls can be used with few refusals; of a smaller one, less. */
const FEW_CALLS = 10

/** If this process has a share of fewer than ten calls a minute, the limit is ten calls in a window that is longer in proportion. */
function calls({ callsPerMinute, share }: BudgetLimits): RollingLimit {
  const perMinute = callsPerMinute * share
  return perMinute > 0 && perMinute < FEW_CALLS && share < 1
    ? new RollingLimit(FEW_CALLS, (MINUTE_MS * FEW_CALLS) / perMinute)
    : new RollingLimit(perMinute, MINUTE_MS)
}

function percent(rate: number): string {
  return `${Number((rate * 100).toPrecision(2))} %`
}
