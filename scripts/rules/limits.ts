/** The evidence of a fall, in nats, above which somebody is called now. Chance alone reaches it once in 440,000 times. */
export const PAGE = 13

/** The evidence above which somebody is asked to look this week. Chance alone reaches it once in 8,100 times. */
export const TICKET = 9

/** A fall that is looked for: in this window, by this much or more. */
export interface Fall {
  readonly window: '15m' | '1h' | '6h' | '1d' | '3d' | '7d'
  readonly fall: number
}

/** Windows of more than an hour detect small falls, and falls of agents with few runs. */
export const FALLS: readonly Fall[] = [
  { window: '15m', fall: 0.2 },
  { window: '1h', fall: 0.15 },
  { window: '6h', fall: 0.1 },
  { window: '6h', fall: 0.05 },
  { window: '1d', fall: 0.15 },
  { window: '1d', fall: 0.05 },
  { window: '3d', fall: 0.2 },
  { window: '3d', fall: 0.1 },
  { window: '3d', fall: 0.03 },
  { window: '7d', fall: 0.12 },
  { window: '7d', fall: 0.05 },
]

/** Seconds of a window. */
export const SECONDS: Readonly<Record<string, number>> = {
  '15m': 900,
  '30m': 1800,
  '1h': 3600,
  '2h': 7200,
  '6h': 21_600,
  '14h': 50_400,
  '1d': 86_400,
  '3d': 259_200,
  '7d': 604_800,
}

/** The last twelfth of each window that is longer than an hour: only while it is bad, too, does the window page. */
export const TWELFTH: Readonly<Record<string, string>> = { '6h': '30m', '1d': '2h', '3d': '6h', '7d': '14h' }

/** The highest level that is assumed: at 1, a single bad run would be proof. */
export const BEST = 0.99

/** The lowest level that a fall may lead to. */
export const LEAST = 0.02

/** The evidence, in nats, above which the usual level is not learnt. */
export const FREEZE = 3

/** The effective number of runs (Kish) that a usual level needs. */
export const ENOUGH = 200
