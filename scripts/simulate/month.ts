import { PAGE, TICKET } from '../rules/limits.ts'
import { Counters, noIncreases } from './counters.ts'
import { Evaluator } from './evaluator.ts'
import type { Levels } from './evaluator.ts'
import { binomial, createRandom, poisson } from './random.ts'

/** The runs of one series, and what is known of them. */
export interface Traffic {
  readonly runsPerHour: number
  /** The rate at which runs are scored. */
  readonly sample: number
  /** The probability that a run passes, at a minute. */
  readonly passes: (minute: number) => number
  /**
   * Runs of which some are sampled less often and pass less often: by share of all runs, by how much the probability of passing differs, and
   * by how much the rate is multiplied. The shares sum to 1, and the differences to 0 when they are weighted by them.
   *
   * @default one group
   */
  readonly groups?: readonly { readonly share: number; readonly differs: number; readonly times: number }[]
  /** How many runs in a row have one outcome. @default 1 */
  readonly conversation?: number
  /** How many calls of a run are scored, from one to this number; they have one outcome. @default 1 */
  readonly calls?: number
}

const ONE_GROUP = [{ share: 1, differs: 0, times: 1 }]

/** The alerts of one series: the times at which they began, in minutes. */
export interface Fired {
  readonly pages: readonly number[]
  readonly tickets: readonly number[]
}

/** The `keep_firing_for` of the shipped alerts: an alert that returns within this time is the same alert. */
const KEEP_FIRING_MINUTES = 30

/** The `for` of the ticket: a shorter alert does not become a ticket. */
const TICKET_FOR_MINUTES = 15

/** Simulates the traffic for this number of minutes, with scores of 0 and 1, and evaluates the rules in each of them. */
export function simulate(traffic: Traffic, levels: Levels, minutes: number, seed: number, untilPage = false): Fired {
  const random = createRandom(seed)
  const counters = new Counters(minutes)
  const evaluator = new Evaluator(levels, counters, minutes)
  const { runsPerHour, sample, passes, conversation = 1, calls = 1, groups = ONE_GROUP } = traffic
  const pages = new Alert(PAGE, 0)
  const tickets = new Alert(TICKET, TICKET_FOR_MINUTES)
  const values = noIncreases()
  /** How many runs of one outcome are scored in a minute: conversations come by chance, and so are their runs sampled. */
  const scored = (share: number, rate: number): number => {
    const mean = (runsPerHour / 60 / conversation) * share
    // Independent runs that are thinned out come by chance again.
    if (conversation === 1) return poisson(mean * rate, random)
    return binomial(conversation * poisson(mean, random), rate, random)
  }
  /** Adds runs of one outcome, each as the cluster of its calls. */
  const add = (label: 'pass' | 'fail', runs: number, weight: number): void => {
    for (let run = 0; run < runs; run += 1) {
      const n = calls === 1 ? 1 : 1 + Math.floor(random() * calls)
      const squared = (weight * n) ** 2
      values[label] += weight * n
      values[`w2${label}`] += squared
      if (label === 'pass') values.w2y += squared
    }
  }
  for (let minute = 0; minute < minutes; minute += 1) {
    const share = passes(minute)
    for (const { share: part, differs, times } of groups) {
      const passing = share + differs
      add('pass', scored(part * passing, sample * times), 1 / (sample * times))
      add('fail', scored(part * (1 - passing), sample * times), 1 / (sample * times))
    }
    values.wy = values.pass
    values.w2y2 = values.w2y
    counters.sample(values)
    const { now } = evaluator.at(minute)
    pages.look(now, minute)
    tickets.look(now, minute)
    if (untilPage && pages.began.length > 0) break
  }
  return { pages: pages.began, tickets: tickets.began }
}

class Alert {
  readonly began: number[] = []
  readonly #over: number
  readonly #forMinutes: number
  #last = Number.NEGATIVE_INFINITY
  #since: number | undefined

  constructor(over: number, forMinutes: number) {
    this.#over = over
    this.#forMinutes = forMinutes
  }

  look(evidence: number | undefined, minute: number): void {
    if (evidence === undefined || evidence <= this.#over) {
      this.#since = undefined
      return
    }
    this.#since ??= minute
    if (minute - this.#since < this.#forMinutes) return
    if (minute - this.#last > KEEP_FIRING_MINUTES) this.began.push(minute)
    this.#last = minute
  }
}
