import { canonicalJsonWithin } from '../../spans/json.ts'
import { inSlices } from '../../scoring/in-slices.ts'
import { maximumMatching } from './maximum-matching.ts'
import type { SchemaError } from './schema/json-schema.ts'

/**
 * Compares a call with an expected one: returns its faults, none if it matches, and `undefined` if the tools differ.
 *
 * @param shows whether the faults have messages
 */
export type Compare<Made> = (made: Made, shows: boolean) => readonly SchemaError[] | undefined

/** Which calls match which expected calls. */
export interface Pairing {
  /** For each expected call the index of its match; `undefined` if it has none. */
  readonly partners: readonly (number | undefined)[]
  /** The differences of a call from the closest expected call without a match. */
  readonly faultsOf: (right: number) => readonly SchemaError[]
}

/** Pairs of calls that are compared per step, and characters of arguments that take as long as another pair. */
const MAX_PAIRS = 10_000
const PAIR_CHARACTERS = 50
/** Larger arguments are compared in a step of their own. */
const MAX_CHARACTERS = 200_000

/** Marks calls of different tools. */
const OTHER_TOOL = 0xffff

/**
 * Pairs as many expected and actual calls as possible, one to one. Thousands of calls, and large ones, are compared in slices, so that the
 * application is not blocked.
 *
 * @param argumentsOf what is read of a call when it is compared. @default nothing that takes long
 */
export function pairCalls<Made>(
  compares: readonly Compare<Made>[],
  made: readonly Made[],
  argumentsOf: (made: Made) => unknown = () => undefined,
): Pairing | Promise<Pairing> {
  return inSlices(pairInSteps(compares, made, argumentsOf))
}

function* pairInSteps<Made>(
  compares: readonly Compare<Made>[],
  made: readonly Made[],
  argumentsOf: (made: Made) => unknown,
): Generator<undefined, Pairing> {
  const counts = compares.map(() => new Uint16Array(made.length))
  const costs = made.map((one) => 1 + canonicalJsonWithin(MAX_CHARACTERS, argumentsOf(one)).length / PAIR_CHARACTERS)
  yield* countFaults(compares, made, counts, costs)
  const partners = yield* maximumMatching(compares.length, made.length, (left, right) => counts[left]?.[right] === 0)
  return toPairing(compares, made, counts, partners)
}

/**
 * Compares every expected call with every actual one: many pairs in the first step, then one per step. Only the number of faults is kept.
 */
function* countFaults<Made>(
  compares: readonly Compare<Made>[],
  made: readonly Made[],
  counts: readonly Uint16Array[],
  costs: readonly number[],
): Generator<undefined, void> {
  let compared = 0
  for (const [left, row] of counts.entries()) {
    for (const [right, call] of made.entries()) {
      row[right] = Math.min(compares[left]?.(call, false)?.length ?? OTHER_TOOL, OTHER_TOOL)
      compared += costs[right] ?? 1
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
    return closest === undefined ? [] : (compares[closest]?.(call, true) ?? [])
  }
  return { partners, faultsOf }
}
