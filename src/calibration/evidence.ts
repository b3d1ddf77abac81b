import type { Agreement } from './calibration.ts'
import { wilson } from './rates.ts'

/** Nats of evidence above which an alert pages somebody, and above which it opens a ticket: as in the rules of `collector-config`. */
export const PAGE_NATS = 13
export const TICKET_NATS = 9

/** Falls of agreement that are looked for: large ones too, because few labelled runs show no others. */
export const FALLS: readonly number[] = [0.5, 0.3, 0.2, 0.1, 0.05]

/** The highest level that is assumed: at 1, a single run would be proof. */
const BEST = 0.99
/** A fall below this would leave nothing to fall from. */
const LEAST = 0.02

/** The agreement that a judge surely reaches: three standard errors below what was measured, at most .99. */
export function surelyReached({ runs, agreed }: Agreement): number {
  return runs === 0 ? 0 : Math.min(BEST, wilson(agreed / runs, runs, 3)[0])
}

/**
 * How much better, in nats, agreement is explained by a fall from `level` than by `level` itself: the formula of
 * docs/numbers.md with weights of 1, for the fall that explains it best. Below 0 where nothing speaks for a fall;
 * `undefined` where the level leaves nothing to fall from.
 */
export function evidenceOfFall({ runs, agreed }: Agreement, level: number): number | undefined {
  const found = FALLS.flatMap((fall) => {
    const fallen = level - fall
    if (fallen < LEAST) return []
    return [(runs - agreed) * Math.log((1 - fallen) / (1 - level)) + agreed * Math.log(fallen / level)]
  })
  return found.length === 0 ? undefined : Math.max(...found)
}
