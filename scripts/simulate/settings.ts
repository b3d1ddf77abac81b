import type { Levels } from './evaluator.ts'
import type { Traffic } from './month.ts'

/** Minutes of a day. */
export const DAY = 24 * 60

/** Series of each setting. */
export const SERIES = 50

/** Traffic that is as good as it should be, and the levels that the rules compare it with. */
export interface Setting {
  readonly name: string
  readonly traffic: (good: number) => Pick<Traffic, 'passes' | 'conversation' | 'calls' | 'groups'>
  readonly levels: (good: number) => Levels
}

const at = (good: number): Levels => ({ mean: good, passed: good, together: 1 })

const season = (lowest: number) => (minute: number) => lowest + 0.03 + 0.03 * Math.sin((2 * Math.PI * minute) / DAY)

/** Settings in which every page and every ticket is a false one. */
export const SETTINGS: readonly Setting[] = [
  { name: 'the truth at the target', traffic: (good) => ({ passes: () => good }), levels: at },
  { name: '.03 above the target', traffic: (good) => ({ passes: () => good + 0.03 }), levels: at },
  {
    name: 'conversations of five, `runsTogether` 5',
    traffic: (good) => ({ passes: () => good, conversation: 5 }),
    levels: (good) => ({ ...at(good), together: 5 }),
  },
  {
    name: 'one to nine calls of a run, with one outcome',
    traffic: (good) => ({ passes: () => good, calls: 9 }),
    levels: at,
  },
  {
    name: 'a fifth of the runs sampled at a twentieth of the rate, and passing .35 less',
    traffic: (good) => ({
      passes: () => good,
      groups: [
        { share: 0.8, differs: 0.07, times: 1 },
        { share: 0.2, differs: -0.28, times: 0.05 },
      ],
    }),
    levels: at,
  },
  {
    name: 'half of the runs sampled at a twentieth of the rate, and passing .1 less',
    traffic: (good) => ({
      passes: () => good,
      groups: [
        { share: 0.5, differs: 0.05, times: 1 },
        { share: 0.5, differs: -0.05, times: 0.05 },
      ],
    }),
    levels: at,
  },
  {
    name: 'a season of ±.03, `usual` its lowest hour',
    traffic: (good) => ({ passes: season(good) }),
    levels: (good) => ({ ...at(good), usual: { mean: good, passed: good } }),
  },
]

/** Runs an hour, and the rates at which they are scored, that every setting is tried with. */
export const RATES: readonly Pick<Traffic, 'runsPerHour' | 'sample'>[] = [2, 10, 1000].flatMap((runsPerHour) =>
  [0.05, 1].map((sample) => ({ runsPerHour, sample })),
)

/** Runs a day, and falls from a level that was learnt, of the table with which docs/alerts.md begins. */
export const FALL_ROWS: readonly { readonly perDay: number; readonly from: number; readonly to: number }[] = [
  50, 200, 1000, 10_000,
].flatMap((perDay) =>
  [
    [0.95, 0.8],
    [0.9, 0.8],
    [0.8, 0.65],
  ].map(([from = 0, to = 0]) => ({ perDay, from, to })),
)

/** Series of each row of this table. */
export const FALL_SERIES = 20

/** A fall from .90 under a target of .88. */
export interface Drop {
  /** Runs scored an hour. */
  readonly scored: number
  readonly fall: number
  /** The median time until the page may be twice this. */
  readonly hours: number
}

/** Falls, with the hours in which a first version of the rules found them. */
export const DROPS: readonly Drop[] = [
  { scored: 10, fall: 0.1, hours: 62.4 },
  { scored: 10, fall: 0.2, hours: 17.7 },
  { scored: 50, fall: 0.05, hours: 62.4 },
  { scored: 50, fall: 0.1, hours: 8.8 },
  { scored: 50, fall: 0.2, hours: 3.3 },
  { scored: 1000, fall: 0.05, hours: 21.8 },
  { scored: 1000, fall: 0.1, hours: 58 / 60 },
  { scored: 1000, fall: 0.2, hours: 11 / 60 },
]
