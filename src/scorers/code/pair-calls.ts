import type { ToolCall } from '../../model/agent-run.ts'
import { contentFree, explain } from '../../model/explanation.ts'
import type { Skipped } from '../../model/score.ts'
import { canonicalJsonWithin } from '../../spans/json.ts'
import { skip } from '../skip.ts'
import { count } from './code-scorer.ts'
import { maximumMatching } from './maximum-matching.ts'
import type { SchemaError } from './schema/json-schema.ts'

/** A call that a run should make. */
export interface CallExpectation {
  /** The name of the tool. Calls of other tools are never compared. */
  readonly name: string
  /**
   * The faults of a call of this tool; none if it is the expected one.
   *
   * @param shows whether the faults have messages
   */
  readonly compare: (made: ToolCall, shows: boolean) => readonly SchemaError[]
}

/** Which calls match which expected calls. */
export interface Pairing {
  /** For each expected call the index of its match; `undefined` if it has none. */
  readonly partners: readonly (number | undefined)[]
  /** The differences of a call from the closest expected call without a match. */
  readonly faultsOf: (right: number) => readonly SchemaError[]
}

/** The most that all comparisons may cost together, about 50 ms. Comparing two calls whose arguments are known costs 1. */
const MAX_COST = 100_000
/** The cost of comparing two calls whose arguments are read again, and of each of their characters. */
const PAIR_COST = 10
const CHARACTER_COST = 0.2
/** Further characters of the arguments of a call do not count. */
const MAX_CHARACTERS = 200_000

/**
 * Pairs as many expected and actual calls as possible, one to one.
 *
 * @param readsArguments whether the arguments of a call are read again at each comparison
 * @returns `skipped: not-applicable` if there are too many calls of the expected tools to compare
 */
export function pairCalls(
  id: string,
  expected: readonly CallExpectation[],
  made: readonly ToolCall[],
  readsArguments: boolean,
): Pairing | Skipped {
  const byName = Map.groupBy(made.keys(), (right) => made[right]?.name)
  const expectedByName = Map.groupBy(expected, ({ name }) => name)
  const costOf = (right: number): number => {
    if (!readsArguments) return 1
    return PAIR_COST + CHARACTER_COST * canonicalJsonWithin(MAX_CHARACTERS, made[right]?.arguments).length
  }
  let cost = 0
  for (const [name, all] of expectedByName) {
    for (const right of byName.get(name) ?? []) {
      cost += all.length * costOf(right)
      if (cost > MAX_COST) {
        return skip(
          'not-applicable',
          explain`${contentFree(id)}: ${count(made.length, 'call')} are too many to compare with ${expected.length} expected ones.`,
        )
      }
    }
  }
  const fits = expected.map(({ name, compare }) =>
    (byName.get(name) ?? []).filter((right) => faultsBetween(compare, made[right], false).length === 0),
  )
  return toPairing(expected, made, maximumMatching(fits))
}

function toPairing(
  expected: readonly CallExpectation[],
  made: readonly ToolCall[],
  partners: readonly (number | undefined)[],
): Pairing {
  const paired = new Set(partners)
  const open = expected.filter((_, left) => partners[left] === undefined)
  const compared = open.length > 0 ? open : expected
  const faultsOf = (right: number): readonly SchemaError[] => {
    const call = made[right]
    if (call === undefined || paired.has(right)) return []
    let closest: CallExpectation | undefined
    let fewest = Number.POSITIVE_INFINITY
    for (const each of compared) {
      if (each.name !== call.name) continue
      const { length } = faultsBetween(each.compare, call, false)
      if (length < fewest) [closest, fewest] = [each, length]
    }
    return closest === undefined ? [] : faultsBetween(closest.compare, call, true)
  }
  return { partners, faultsOf }
}

function faultsBetween(
  compare: CallExpectation['compare'],
  made: ToolCall | undefined,
  shows: boolean,
): readonly SchemaError[] {
  return made === undefined ? [] : compare(made, shows)
}
