import type { Table } from '../rules/table.ts'
import { Counters } from './counters.ts'
import { Evaluator } from './evaluator.ts'
import type { Levels } from './evaluator.ts'
import { createRandom, poisson } from './random.ts'

/** The runs of one series, and what is known of them. */
export interface Traffic {
  readonly runsPerHour: number
  /** The rate at which runs are scored. */
  readonly sample: number
  /** The probability that a run passes, at a minute. */
  readonly passes: (minute: number) => number
  /** How many runs in a row have one outcome. */
  readonly conversation: number
}

/** What one series did: times at which alerts began, in minutes. */
export interface Fired {
  readonly pages: readonly number[]
  readonly tickets: readonly number[]
}

/** As `keep_firing_for` of the shipped alerts: what comes back within it is the same alert. */
const KEEP_FIRING_MINUTES = 30

/** As `for` of the ticket: what is over at once is no ticket. */
const TICKET_FOR_MINUTES = 15

/** Lets the traffic come for so many minutes, and the rules look at it in each of them. */
export function simulate(
  traffic: Traffic,
  levels: Levels,
  table: Table,
  minutes: number,
  seed: number,
  untilPage = false,
): Fired {
  const random = createRandom(seed)
  const counters = new Counters(minutes)
  const evaluator = new Evaluator(table, levels, counters, minutes)
  const weight = 1 / traffic.sample
  let pass = 0
  let fail = 0
  const pages = new Alert(table.page, 0)
  const tickets = new Alert(table.ticket, TICKET_FOR_MINUTES)
  for (let minute = 0; minute < minutes; minute += 1) {
    const conversations = poisson(traffic.runsPerHour / 60 / traffic.conversation, random)
    for (let index = 0; index < conversations; index += 1) {
      const passed = random() < traffic.passes(minute)
      for (let run = 0; run < traffic.conversation; run += 1) {
        if (traffic.sample < 1 && random() >= traffic.sample) continue
        if (passed) pass += weight
        else fail += weight
      }
    }
    const w2 = (pass + fail) * weight
    const w2y = pass * weight
    counters.sample({ pass, fail, wy: pass, w2, w2y, w2y2: w2y })
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
