import type { ScoreAttributes } from '../attributes/attribute-table.ts'

/** The counters that are summed here before their values go to the SDK. `ScoreInstruments` creates them, and `MetricSums` adds to them. */
export const COUNTERS = {
  evaluations: ['spanscore.evaluations', '{evaluation}', 'Evaluations by outcome, reason and label.'],
  w: ['spanscore.sum.w', '1', 'Sum of weights w = 1/probability over scored runs.'],
  wy: ['spanscore.sum.wy', '1', 'Sum of w·y, y the position of the score in its range, higher is better.'],
  wy2: ['spanscore.sum.wy2', '1', 'Sum of w·y².'],
  w2: ['spanscore.sum.w2', '1', 'Sum of w², by label.'],
  w2y: ['spanscore.sum.w2y', '1', 'Sum of w²·y.'],
  w2y2: ['spanscore.sum.w2y2', '1', 'Sum of w²·y².'],
  chosen: [
    'spanscore.chosen.w',
    '1',
    'Sum of weights over all runs that were chosen to be scored, by whether they were scored or lost.',
  ],
  traits: [
    'spanscore.traits',
    '1',
    'Sum of weights over at most 40 scored runs a second, ten of one agent, by label, for each trait of the runs: what failing runs have in common. Every run has one `status`.',
  ],
  runs: ['spanscore.runs', '{run}', 'Agent runs that were closed, or dropped at a limit.'],
  feedback: ['spanscore.feedback', '{feedback}', "Users' feedback, by its name and label."],
  conversations: [
    'spanscore.conversations',
    '{conversation}',
    'Conversations that were scored for the first time (`closed`; `incomplete`: turns are missing; `evicted`: too many were open) or again after they went on (`revised`); of `without-id`, runs that are in none.',
  ],
  tokens: ['spanscore.judge.tokens', '{token}', 'Tokens that judges used.'],
  cost: ['spanscore.judge.cost', '{USD}', 'The cost of judges, if the price of their model is known.'],
} as const

/** Name of one of the counters. */
export type CounterName = keyof typeof COUNTERS

/** One series of a counter, and the sum of its additions since it was last written. */
export interface Cell {
  readonly counter: CounterName
  readonly attributes: ScoreAttributes
  value: number
  isWaiting: boolean
}

/**
 * Sums that wait to be written. An addition here is cheap, while a call into the SDK takes over a microsecond. A new series is
 * written even if it is still 0, so that backends see where it begins.
 */
export class GatheredSums {
  #waiting: Cell[] = []

  get isEmpty(): boolean {
    return this.#waiting.length === 0
  }

  cell(counter: CounterName, attributes: ScoreAttributes): Cell {
    const cell: Cell = { counter, attributes, value: 0, isWaiting: true }
    this.#waiting.push(cell)
    return cell
  }

  add(cell: Cell, value: number): void {
    cell.value += value
    if (cell.isWaiting) return
    cell.isWaiting = true
    this.#waiting.push(cell)
  }

  /** Writes each sum once, and starts again from 0. */
  drain(write: (cell: Cell, value: number) => void): void {
    const waiting = this.#waiting
    this.#waiting = []
    for (const cell of waiting) {
      const { value } = cell
      // Reset before writing: if `write` throws, the value must not be counted a second time.
      cell.value = 0
      cell.isWaiting = false
      write(cell, value)
    }
  }
}
