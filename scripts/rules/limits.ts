/** The evidence of a fall, in nats, above which somebody is called now. Chance alone reaches it once in 440,000 times. */
export const PAGE = 13

/** The evidence above which somebody is asked to look this week. Chance alone reaches it once in 8,100 times. */
export const TICKET = 9

/** The fall that running evidence looks for: over whatever time a fall lasts, so that agents with few runs have it, too. */
export const RUNNING_FALL = 0.15

/** Running evidence is kept up to this much above a page, so that a fall which has ended is soon over. */
export const RUNNING_SPARE = 5

/**
 * Running evidence is for a month of so many independent runs: chance has more of them where there is more traffic, and fewer where there is
 * less, but never fewer than `LEAST_MONTHLY`.
 */
export const MONTHLY = 3000

/** Fewer runs a month are not assumed: the first runs of an agent must not weigh too much. */
export const LEAST_MONTHLY = 1000

/** A fall that is looked for in a window, by this much or more: small ones, which take many runs. */
export interface Fall {
  readonly window: '6h' | '1d' | '3d'
  readonly fall: number
}

/** The falls that are too small for running evidence. */
export const FALLS: readonly Fall[] = [
  { window: '6h', fall: 0.1 },
  { window: '6h', fall: 0.05 },
  { window: '1d', fall: 0.05 },
  { window: '3d', fall: 0.03 },
]

/** Seconds of a window. */
export const SECONDS: Readonly<Record<string, number>> = {
  '30m': 1800,
  '1h': 3600,
  '2h': 7200,
  '6h': 21_600,
  '1d': 86_400,
  '3d': 259_200,
  '7d': 604_800,
}

/** The last twelfth of each window: only while it is bad, too, does the window page. */
export const TWELFTH: Readonly<Record<Fall['window'], string>> = { '6h': '30m', '1d': '2h', '3d': '6h' }

/** The highest level that is assumed: at 1, a single bad run would be proof. */
export const BEST = 0.99

/** The lowest level that a fall may lead to. */
export const LEAST = 0.02

/** The evidence, in nats, above which the usual level is not learnt. */
export const FREEZE = 3

/** How long before now the two weeks end that a usual level is learnt from: a slow fall must not become usual. The second is for the first weeks. */
export const BEFORE = ['7d', '1h'] as const

/** The two weeks that ended a week ago are taken if they have at least this share of the runs of those that ended an hour ago. */
export const SETTLED = 0.3

/** The effective number of independent runs that a usual level needs. */
export const ENOUGH = 200
