import { inSlices } from '../../scoring/in-slices.ts'
import { maximumMatching } from './maximum-matching.ts'
import type { SchemaError } from './schema/json-schema.ts'

/** What keeps a call from being the expected one: nothing, where it is; `undefined` if they are of different tools. */
export type Compare<Made> = (made: Made) => readonly SchemaError[] | undefined

/** Which of the calls that were made are the expected ones. */
export interface Pairing {
  /** For each expected call the place of the call that is it; `undefined` if none is left for it. */
  readonly partners: readonly (number | undefined)[]
  /** For a call that was made: what keeps it from the expected call that it is closest to, of those that were not made. */
  readonly faultsOf: (right: number) => readonly SchemaError[]
}

/** Pairs of expected and made calls that are compared without a pause. */
const MAX_PAIRS = 20_000

/** In a count: the calls are of different tools. */
const OTHER_TOOL = 0xffff

/**
 * Pairs expected calls with calls that were made, one to one and as many as can be. Thousands of calls are compared in slices,
 * so that the application is not held up.
 */
export function pairCalls<Made>(compares: readonly Compare<Made>[], made: readonly Made[]): Pairing | Promise<Pairing> {
  return inSlices(pairInSteps(compares, made))
}

function* pairInSteps<Made>(compares: readonly Compare<Made>[], made: readonly Made[]): Generator<undefined, Pairing> {
  const counts = compares.map(() => new Uint16Array(made.length))
  yield* countFaults(compares, made, counts)
  const partners = yield* maximumMatching(compares.length, made.length, (left, right) => counts[left]?.[right] === 0)
  return toPairing(compares, made, counts, partners)
}

/** Compares every expected call with every one that was made: many pairs in the first step, then one in each. Only how much differs is kept. */
function* countFaults<Made>(
  compares: readonly Compare<Made>[],
  made: readonly Made[],
  counts: readonly Uint16Array[],
): Generator<undefined, void> {
  let compared = 0
  for (const [left, row] of counts.entries()) {
    for (const [right, call] of made.entries()) {
      row[right] = Math.min(compares[left]?.(call)?.length ?? OTHER_TOOL, OTHER_TOOL)
      compared++
      if (compared > MAX_PAIRS) yield
    }
  }
}

function toPairing<Made>(
  compares: readonly Compare<Made>[],
  made: readonly Made[],
  counts: readonly Uint16Array[],
  partners: readonly (number | undefined)[],
): Pairing {
  const paired = new Set(partners)
  const all = [...compares.keys()]
  const open = all.filter((left) => partners[left] === undefined)
  const compared = open.length > 0 ? open : all
  const faultsOf = (right: number): readonly SchemaError[] => {
    const call = made[right]
    if (paired.has(right) || call === undefined) return []
    let closest: number | undefined
    let fewest = OTHER_TOOL
    for (const left of compared) {
      const count = counts[left]?.[right] ?? OTHER_TOOL
      if (count >= fewest) continue
      fewest = count
      closest = left
    }
    return closest === undefined ? [] : (compares[closest]?.(call) ?? [])
  }
  return { partners, faultsOf }
}
