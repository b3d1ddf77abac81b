import { contentFree, explain } from '../../model/explanation.ts'
import { defineScorer } from '../../scoring/define-scorer.ts'
import type { Scorer, ScoredVerdict } from '../../scoring/scorer.ts'
import { canonicalJson } from '../../spans/json.ts'
import { count } from './code-scorer.ts'
import { expectOption, expectTexts, readOptions } from '../read-options.ts'
import type { KeysOf } from '../read-options.ts'
import { expectLevel, scorerKeys } from '../scorer-options.ts'
import type { LevelOption, ScorerOptions } from '../scorer-options.ts'
import { skipWithoutFact } from '../../scoring/absence.ts'
import { skip } from '../skip.ts'

/** Options of `createLoopScorer`. */
export interface LoopOptions extends ScorerOptions, LevelOption {
  /** How often the same call, with the same arguments, may be made. @default 2, which allows one retry */
  readonly maxIdentical?: number
  /** Tools that may be called any number of times, such as those that poll. @default none */
  readonly ignore?: readonly string[]
}

const KNOWN: KeysOf<LoopOptions> = { ...scorerKeys, level: true, maxIdentical: true, ignore: true }

/** A sequence of calls that was repeated several times in a row. */
export interface Cycle {
  /** The tools, in order. */
  readonly calls: readonly string[]
  /** How many times in a row. */
  readonly times: number
}

/**
 * Loops, by code: the share of calls that repeat an identical call (name and arguments) more often than allowed. Lower is better; passes at
 * 0.
 *
 * Details name the repeated calls and the longest cycle: a sequence of calls made at least three times in a row. A run without calls is
 * `skipped: not-applicable`; one without recorded arguments is `skipped: no-content`.
 *
 * @example
 * ```ts
 * const scorer = createLoopScorer({ maxIdentical: 3, ignore: ['get_job_status'] })
 * ```
 *
 * @throws TypeError if an option is invalid or unknown
 */
export function createLoopScorer(options: LoopOptions = {}): Scorer {
  const factory = 'createLoopScorer'
  const { id = 'loop', level = 'run', maxIdentical = 2, ignore = [], passAt = 0 } = readOptions(factory, options, KNOWN)
  expectLevel(factory, level)
  const isCount = Number.isInteger(maxIdentical) && maxIdentical >= 1
  expectOption(isCount, factory, 'maxIdentical to be a whole number from 1', maxIdentical)
  expectTexts(factory, 'ignore', ignore)
  return defineScorer({
    id,
    description: 'Share of tool calls that repeat an identical call once too often.',
    kind: 'code',
    level,
    better: 'lower',
    passAt,
    identity: { scorer: 'loop', maxIdentical, ignore },
    inline: true,
    needs: ['toolNames', 'toolArguments'],
    mayLack: ['toolCalls'],
    assess: (run, _context, reads) => {
      const none = skipWithoutFact(reads.run, 'toolCalls', id)
      if (none !== undefined) return none
      const calls = run.toolCalls.flatMap(({ name, arguments: given }, index) =>
        ignore.includes(name) ? [] : [{ name, index, key: `${name}(${canonicalJson(given ?? {})})` }],
      )
      if (calls.length === 0) return skip('not-applicable', explain`${contentFree(id)}: no tool was called.`)
      return verdictOf(calls, maxIdentical)
    },
  })
}

interface MadeCall {
  readonly name: string
  /** Its index in `run.toolCalls`. */
  readonly index: number
  /** The same for calls of one tool with the same arguments. */
  readonly key: string
}

function verdictOf(calls: readonly MadeCall[], maxIdentical: number): ScoredVerdict {
  const repeated = [...Map.groupBy(calls, ({ key }) => key)].filter(([, made]) => made.length > maxIdentical)
  const tooMany = repeated.reduce((sum, [, made]) => sum + made.length - maxIdentical, 0)
  const cycle = longestCycle(
    calls.map(({ key }) => key),
    calls.map(({ name }) => name),
  )
  const [worst] = repeated.toSorted(([, one], [, other]) => other.length - one.length)
  const inCycle =
    cycle === undefined ? explain`` : explain` ${cycle.calls.join(', ')} came ${cycle.times} times in a row.`
  return {
    status: 'scored',
    value: tooMany / calls.length,
    explanation:
      worst === undefined
        ? explain`No call was made more than ${count(maxIdentical, 'time')} with the same arguments.${inCycle}`
        : explain`${tooMany} of ${count(calls.length, 'call')} repeat an identical one: ${worst[0].slice(0, 200)} ${worst[1].length} times.${inCycle}`,
    findings: repeated.map(([key, made]) => ({
      about: 'call',
      verdict: 'repeated',
      rating: 'bad',
      text: key.slice(0, 200),
      reason: `${made.length} times`,
      places: made.map(({ index }) => ({ in: 'call', index })),
    })),
    ...(cycle !== undefined && { details: { cycle } }),
  }
}

const MIN_TIMES = 3
/** Longer cycles are rare, and the search is quadratic. */
const MAX_PERIOD = 8

/** The cycle that covers the most calls; among equal ones the shortest. */
function longestCycle(keys: readonly string[], names: readonly string[]): Cycle | undefined {
  let best: { readonly start: number; readonly period: number; readonly times: number } | undefined
  for (let period = 1; period <= Math.min(MAX_PERIOD, Math.floor(keys.length / MIN_TIMES)); period++) {
    let run = 0
    for (let index = period; index <= keys.length; index++) {
      if (index < keys.length && keys[index] === keys[index - period]) {
        run++
        continue
      }
      const times = Math.floor(run / period) + 1
      if (times >= MIN_TIMES && times * period > (best?.times ?? 0) * (best?.period ?? 0)) {
        best = { start: index - run - period, period, times }
      }
      run = 0
    }
  }
  return best && { calls: names.slice(best.start, best.start + best.period), times: best.times }
}
