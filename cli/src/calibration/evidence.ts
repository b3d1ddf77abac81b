import type { Agreement } from './calibration.ts'
import { wilson } from './rates.ts'

/** Nats of evidence above which an alert pages somebody, or opens a ticket. The rules of `collector-config` use the same. */
export const PAGE_NATS = 13
export const TICKET_NATS = 9

/** The falls of agreement that are tested. The large ones are there because few labelled runs cannot show small ones. */
export const FALLS: readonly number[] = [0.5, 0.3, 0.2, 0.1, 0.05]

/** The highest level that is assumed. At 1, a single disagreement would be proof of a fall. */
const BEST = 0.99
/** The lowest level to which a fall is assumed. */
const LEAST = 0.02

/** The agreement that a judge surely reaches: three standard errors below what was measured, at most .99. */
export function surelyReached({ runs, agreed }: Agreement): number {
  return runs === 0 ? 0 : Math.min(BEST, wilson(agreed / runs, runs, 3)[0])
}

/**
 * Computes how much better, in nats, a fall from `level` explains the agreement than `level` itself does. This is the formula of
 * docs/reference/evidence.md with weights of 1, for the fall that explains it best. It is below 0 if nothing indicates a fall, and
 * `undefined` if the level is so low that no fall can be tested.
 */
export function evidenceOfFall({ runs, agreed }: Agreement, level: number): number | undefined {
  const found = FALLS.flatMap((fall) => {
    const fallen = level - fall
    if (fallen < LEAST) return []
    return [(runs - agreed) * Math.log((1 - fallen) / (1 - level)) + agreed * Math.log(fallen / level)]
  })
  return found.length === 0 ? undefined : Math.max(...found)
}
