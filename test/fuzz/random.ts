/** Random choices that are the same for the same seed. */
export interface Random {
  /** From 0 (included) to 1 (excluded). */
  next(): number
  /** A whole number from 0 (included) to `below` (excluded). */
  integer(below: number): number
  chance(probability: number): boolean
  /** An element of a list that is not empty. */
  pick<T>(items: readonly T[]): T
}

/** Mulberry32: small, quick, and the same on every machine. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const integer = (below: number): number => Math.floor(next() * below)
  return {
    next,
    integer,
    chance: (probability) => next() < probability,
    pick: (items) => items[integer(items.length)]!,
  }
}
