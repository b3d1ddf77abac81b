import type { Finding } from '../../model/finding.ts'
import { contentFree, explain, joinExplanations } from '../../model/explanation.ts'
import type { Explanation } from '../../model/explanation.ts'
import type { AgentRun, ToolCall } from '../../model/agent-run.ts'
import { defineScorer } from '../../scoring/define-scorer.ts'
import type { Skipped } from '../../model/score.ts'
import type { Scorer } from '../../scoring/scorer.ts'
import { canonicalJson, isRecord } from '../../spans/json.ts'
import { listNames } from './code-scorer.ts'
import { expectCount, explainUncounted, isCounted } from './counted-calls.ts'
import type { CountOption } from './counted-calls.ts'
import { expectReturned } from '../expect-returned.ts'
import { expectOption, expectTexts, readOptions } from '../read-options.ts'
import type { KeysOf } from '../read-options.ts'
import { expectLevel, scorerKeys } from '../scorer-options.ts'
import type { LevelOption, ScorerOptions } from '../scorer-options.ts'
import { KnownTools } from './known-tools.ts'
import { expectedTools } from './expected-tools.ts'
import { pairCalls } from './pair-calls.ts'
import type { SchemaError } from './schema/json-schema.ts'
import { skip } from '../skip.ts'

/** A call that the run should make: the name of a tool, or its name and its arguments. */
export type ExpectedCall =
  | string
  | {
      readonly name: string
      /** Values of the arguments that matter, or a function that decides whether the arguments are right. @default any arguments */
      readonly arguments?: Readonly<Record<string, unknown>> | ((args: unknown) => boolean)
    }

/**
 * How the calls are compared with the expected ones. `exact`: the same calls in the same order. `ordered`: the expected calls in
 * their order, and others may come between. `unordered`: the same calls in any order. `subset`: only expected calls.
 * `superset`: all expected calls, and others are allowed.
 */
export type TrajectoryMode = 'exact' | 'ordered' | 'unordered' | 'subset' | 'superset'

/** Options of `createTrajectoryScorer`. */
export interface TrajectoryOptions extends ScorerOptions, LevelOption, CountOption {
  /**
   * The calls that the run should make, or a function that returns them for each run (`undefined` for a run without an expectation). An empty
   * list: no tool may be called, in every mode.
   */
  readonly expected: readonly ExpectedCall[] | ((run: AgentRun) => readonly ExpectedCall[] | undefined)
  /** How the calls must match: exactly, in order, in any order, only expected ones, or all expected ones. @default 'ordered' */
  readonly mode?: TrajectoryMode
  /**
   * What the score is. `match`: 1 if the calls match in that mode, otherwise 0. `precision`, `recall` and `f1`: that share of the calls,
   * whatever the mode.
   *
   * @default 'match'
   */
  readonly measure?: 'match' | 'precision' | 'recall' | 'f1'
  /** Tools whose calls do not count, such as those that only read. @default none */
  readonly ignore?: readonly string[]
}

const KNOWN: KeysOf<TrajectoryOptions> = {
  ...scorerKeys,
  level: true,
  expected: true,
  mode: true,
  measure: true,
  ignore: true,
  count: true,
}

/** What `createTrajectoryScorer` found. */
export interface TrajectoryDetails {
  /** Whether the calls fit the expected ones in the chosen mode. */
  readonly matches: boolean
  /** Matched calls ÷ calls made; 1 if none was made. */
  readonly precision: number
  /** Matched calls ÷ calls expected; 1 if none was expected. */
  readonly recall: number
  /** The harmonic mean of precision and recall. */
  readonly f1: number
  /** Expected calls that were not made. */
  readonly missing: readonly string[]
  /** Calls that were made and not expected. */
  readonly unexpected: readonly string[]
}

/**
 * Trajectory, by code: compares the calls of the run with those that it should make.
 *
 * As many expected and actual calls as possible are paired one to one (maximum matching). Precision, recall and F1 count those
 * pairs, repeats included. The attribute `spanscore.expected_tools` of the agent span takes precedence over `expected`. Runs
 * without an expectation are `skipped: not-applicable`.
 *
 * @example
 * ```ts
 * const scorer = createTrajectoryScorer({
 *   expected: ['search_flights', { name: 'book_flight', arguments: { flight: 'LH 870' } }],
 *   mode: 'ordered',
 * })
 * ```
 *
 * @throws TypeError if an option is invalid or unknown
 */
export function createTrajectoryScorer(options: TrajectoryOptions): Scorer {
  const factory = 'createTrajectoryScorer'
  const { id = 'trajectory', expected, passAt, ...more } = readOptions(factory, options, KNOWN)
  const { level = 'run', mode = 'ordered', measure = 'match', ignore = [], count: counted = 'all' } = more
  expectLevel(factory, level)
  expectOption(typeof expected === 'function' || areCalls(expected), factory, `${CALLS} or a function`, expected)
  expectTexts(factory, 'ignore', ignore)
  expectOption(Object.hasOwn(MODES, mode), factory, `mode to be one of ${Object.keys(MODES).join(', ')}`, mode)
  expectCount(factory, counted)
  expectOption(MEASURES.includes(measure), factory, `measure to be one of ${MEASURES.join(', ')}`, measure)
  // Names that a function or an attribute returns may come from the content of the run, so only these are known to be free of it.
  const configured = new Set([...ignore, ...(typeof expected === 'function' ? [] : expected.map(nameOf))])
  const known = new KnownTools(id, configured)
  return defineScorer({
    id,
    description: 'Whether the run made the calls that it should make.',
    kind: 'code',
    level,
    passAt,
    identity: { scorer: 'trajectory', expected, mode, measure, ignore, ...(counted !== 'all' && { count: counted }) },
    inline: true,
    needs: ['toolNames', 'toolArguments'],
    assess: (run, _context, reads) => {
      const { tool, order = tool === undefined ? undefined : [tool] } = expectedTools(reads.run) ?? {}
      const wanted: readonly ExpectedCall[] | undefined =
        order ?? (typeof expected === 'function' ? expectReturned(expected(run), id, CALLS, areCalls) : expected)
      if (wanted === undefined)
        return skip('not-applicable', explain`${contentFree(id)}: no calls are expected of this run.`)
      const relevant = run.toolCalls.flatMap((call, index) => (ignore.includes(call.name) ? [] : [{ call, index }]))
      const madeAt = relevant.filter(({ call }) => isCounted(call, counted))
      const made = madeAt.map(({ call }) => call)
      const names = run.toolCalls.map(({ name }) => name)
      const notOffered = known.check(reads.run, names, wanted.map(nameOf))
      if ('status' in notOffered) return notOffered
      const compared = compare(id, wanted, made, mode)
      if ('status' in compared) return compared
      const { details, extra } = compared
      const value = measure === 'match' ? Number(details.matches) : details[measure]
      const uncounted = explainUncounted(
        relevant.map(({ call }) => call),
        counted,
      )
      const explanation = explain`${explainTrajectory(details, mode, configured)}${uncounted}${notOffered}`
      const findings = [
        ...details.missing.map((text): Finding => ({ about: 'call', verdict: 'missing', rating: 'bad', text })),
        ...extra.map((at, place): Finding => ({
          about: 'call',
          verdict: 'unexpected',
          rating: measure === 'match' && details.matches ? 'open' : 'bad',
          text: details.unexpected[place] ?? '',
          places: [{ in: 'call', index: madeAt[at]?.index ?? 0 }],
        })),
      ]
      return { status: 'scored', value, explanation, findings, details }
    },
  })
}

const CALLS = `"expected" to be calls (a tool's name, or { name, arguments })`

const MEASURES: readonly string[] = ['match', 'precision', 'recall', 'f1']

interface Comparison {
  readonly wanted: number
  readonly made: number
  readonly pairs: number
  readonly fits: (wanted: number, made: number) => boolean
}

const MODES: Readonly<Record<TrajectoryMode, (comparison: Comparison) => boolean>> = {
  exact: ({ wanted, made, fits }) =>
    wanted === made && Array.from({ length: wanted }).every((_call, index) => fits(index, index)),
  ordered: ({ wanted, made, fits }) => {
    let found = 0
    for (let index = 0; index < made && found < wanted; index++) if (fits(found, index)) found++
    return found === wanted
  },
  unordered: ({ wanted, made, pairs }) => pairs === wanted && pairs === made,
  subset: ({ made, pairs }) => pairs === made,
  superset: ({ wanted, pairs }) => pairs === wanted,
}

function compare(
  id: string,
  wanted: readonly ExpectedCall[],
  made: readonly ToolCall[],
  mode: TrajectoryMode,
): { readonly details: TrajectoryDetails; readonly extra: readonly number[] } | Skipped {
  const texts = new ArgumentTexts()
  const expectations = wanted.map((call) => toExpectation(call, texts))
  const compares = expectations.map((isExpected, index) => ({
    name: nameOf(wanted[index] ?? ''),
    compare: (call: ToolCall) => (isExpected(call) ? NO_FAULTS : ANY_FAULT),
  }))
  const pairing = pairCalls(id, compares, made, false)
  if ('status' in pairing) return pairing
  const { partners } = pairing
  const matched = new Set(partners)
  const pairs = partners.filter((partner) => partner !== undefined).length
  const precision = made.length === 0 ? 1 : pairs / made.length
  const recall = wanted.length === 0 ? 1 : pairs / wanted.length
  const fits = (left: number, right: number): boolean => {
    const call = made[right]
    return call !== undefined && expectations[left]?.(call) === true
  }
  const extra = [...made.keys()].filter((index) => !matched.has(index))
  const details = {
    matches:
      wanted.length === 0 ? made.length === 0 : MODES[mode]({ wanted: wanted.length, made: made.length, pairs, fits }),
    precision,
    recall,
    f1: pairs === 0 ? Number(precision === 1 && recall === 1) : (2 * precision * recall) / (precision + recall),
    missing: wanted.filter((_call, index) => partners[index] === undefined).map(nameOf),
    unexpected: extra.map((index) => made[index]?.name ?? ''),
  }
  return { details, extra }
}

const NO_FAULTS: readonly SchemaError[] = []
const ANY_FAULT: readonly SchemaError[] = [{ path: '', code: 'value_error', message: '' }]

/** Caches the canonical text of each argument, because it is compared with every expected call. */
class ArgumentTexts {
  readonly #ofCalls = new Map<ToolCall, Map<string, string>>()

  /** The text of an argument; `undefined` if the call did not have it. */
  get(call: ToolCall, name: string): string | undefined {
    let ofCall = this.#ofCalls.get(call)
    if (ofCall === undefined) this.#ofCalls.set(call, (ofCall = new Map()))
    const known = ofCall.get(name)
    if (known !== undefined) return known
    const given = call.arguments
    if (!isRecord(given) || !Object.hasOwn(given, name)) return undefined
    const text = canonicalJson(given[name])
    ofCall.set(name, text)
    return text
  }
}

/** Returns a function that decides whether a call is the expected one. */
function toExpectation(wanted: ExpectedCall, texts: ArgumentTexts): (made: ToolCall) => boolean {
  const name = nameOf(wanted)
  const args = typeof wanted === 'string' ? undefined : wanted.arguments
  if (args === undefined) return (made) => made.name === name
  if (typeof args === 'function') {
    const isRight = (made: ToolCall): boolean =>
      expectReturned(args(made.arguments), name, 'arguments to return true or false', isBoolean) === true
    return (made) => made.name === name && isRight(made)
  }
  const expected = Object.entries(args).map(([argument, value]) => [argument, canonicalJson(value)] as const)
  return (made) => made.name === name && expected.every(([argument, text]) => texts.get(made, argument) === text)
}

function isBoolean(value: unknown): boolean {
  return typeof value === 'boolean'
}

function nameOf(call: ExpectedCall): string {
  return typeof call === 'string' ? call : call.name
}

function areCalls(value: unknown): boolean {
  return Array.isArray(value) && value.every((call) => typeof call === 'string' || isCall(call))
}

/** Unknown keys are refused: `args` instead of `arguments` would let any arguments pass. */
function isCall(call: unknown): boolean {
  if (!isRecord(call)) return false
  const { name, arguments: args, ...others } = call
  const areArguments = args === undefined || typeof args === 'function' || isRecord(args)
  return typeof name === 'string' && areArguments && Object.keys(others).length === 0
}

function explainTrajectory(
  { matches, missing, unexpected, precision, recall }: TrajectoryDetails,
  mode: TrajectoryMode,
  configured: ReadonlySet<string>,
): Explanation {
  const changed = missing.filter((name) => unexpected.includes(name))
  const isOther = (name: string) => !changed.includes(name)
  const faults = (
    [
      ['made with other arguments', changed],
      ['not made', missing.filter(isOther)],
      ['not expected', unexpected.filter(isOther)],
    ] as const
  ).flatMap(([what, names]) =>
    names.length === 0 ? [] : [explain`${contentFree(what)}: ${listNames(names, configured)}`],
  )
  const detail =
    faults.length > 0
      ? joinExplanations(faults, '; ')
      : contentFree(matches ? 'no call is missing, none is extra' : 'the order differs')
  const shares = contentFree(`precision ${precision.toFixed(2)}, recall ${recall.toFixed(2)}`)
  const verdict = contentFree(`${matches ? 'match' : 'do not match'} (${mode})`)
  return explain`The calls ${verdict}: ${detail}; ${shares}.`
}
