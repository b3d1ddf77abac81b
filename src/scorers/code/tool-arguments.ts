import type { Finding } from '../../model/finding.ts'
import { contentFree, explain } from '../../model/explanation.ts'
import type { Explanation } from '../../model/explanation.ts'
import type { AgentRun, ToolCall } from '../../model/agent-run.ts'
import { defineScorer } from '../../scoring/define-scorer.ts'
import type { Skipped } from '../../model/score.ts'
import type { Scorer, ScoredVerdict } from '../../scoring/scorer.ts'
import { isRecord } from '../../spans/json.ts'
import type { ToolDefinition } from '../../model/message.ts'
import { checkArguments } from './allowed-arguments.ts'
import type { AllowedArguments } from './allowed-arguments.ts'
import { count, listNames } from './code-scorer.ts'
import { expectCount, explainUncounted, isCounted } from './counted-calls.ts'
import type { CountOption } from './counted-calls.ts'
import { expectReturned } from '../expect-returned.ts'
import { expectFlags, expectOption, isJsonSchema, readOptions } from '../read-options.ts'
import type { KeysOf } from '../read-options.ts'
import { scorerKeys } from '../scorer-options.ts'
import type { ScorerOptions } from '../scorer-options.ts'
import { validateJson } from './schema/json-schema.ts'
import type { SchemaError } from './schema/json-schema.ts'
import type { LinearPatterns } from './schema/linear-patterns.ts'
import { withLinearPatterns } from './schema/linear-patterns.ts'
import { hasPatterns } from './schema/has-patterns.ts'
import { ownSchemaCheck, recordedSchemaCheck } from './schema/schema-check.ts'
import type { SchemaCheck } from './schema/schema-check.ts'
import { KnownTools } from './known-tools.ts'
import { pairCalls } from './pair-calls.ts'
import type { CallExpectation, Pairing } from './pair-calls.ts'
import { skipWithoutFact } from '../../scoring/absence.ts'
import type { Reads } from '../../scoring/reads.ts'
import { skip, skipWithoutCalls } from '../skip.ts'

/** A call that the run should make, with the allowed values of each argument. */
export interface ExpectedArguments {
  /** The tool that should be called. */
  readonly name: string
  /** The allowed values of each argument. */
  readonly arguments: AllowedArguments
}

/** Options of `createToolArgumentsScorer`. */
export interface ToolArgumentsOptions extends ScorerOptions, CountOption {
  /** Tools with the JSON Schema of their arguments. They take precedence over those that the run recorded. @default none */
  readonly tools?: readonly ToolDefinition[]
  /**
   * The calls that the run should make, or a function that returns them for each run. An empty list: no tool may be called.
   *
   * @default none: only schemas are checked
   */
  readonly expected?: readonly ExpectedArguments[] | ((run: AgentRun) => readonly ExpectedArguments[] | undefined)
  /**
   * Whether to compare values exactly (otherwise strings are compared without case, blanks and punctuation, like the leaderboard), and to
   * reject arguments that the schema does not name, even if the schema allows them. @default false
   */
  readonly strict?: boolean
}

const KNOWN: KeysOf<ToolArgumentsOptions> = { ...scorerKeys, tools: true, expected: true, strict: true, count: true }

/** One call, and the errors in its arguments. */
interface CheckedCall {
  /** The tool that was called. */
  readonly name: string
  /** Index of the call in `run.toolCalls`. */
  readonly index: number
  /** The errors in the arguments; empty if there are none. */
  readonly errors: readonly SchemaError[]
}

/**
 * Tool arguments, by code. Passes at 1.
 *
 * Without `expected`: the share of calls with valid arguments by the JSON Schema of their tool, from `tools` or as recorded; calls without
 * a schema do not count. With `expected`: the share of expected calls that were made with allowed values, by the rules of the Berkeley
 * Function Calling Leaderboard (see `AllowedArguments`), out of the expected calls or the actual calls of these tools, whichever are more.
 * As many expected and actual calls as possible are paired one to one.
 *
 * Of JSON Schema, `format` and references to other documents are not checked.
 *
 * Without calls or an expectation `skipped: not-applicable`; without recorded arguments or schemas `no-content`.
 *
 * @example
 * ```ts
 * const scorer = createToolArgumentsScorer({
 *   expected: [{ name: 'get_weather', arguments: { city: ['Oslo', 'Oslo, Norway'], unit: ['celsius', ''] } }],
 * })
 * ```
 *
 * @throws TypeError if an option is invalid or unknown
 */
export function createToolArgumentsScorer(options: ToolArgumentsOptions = {}): Scorer {
  const factory = 'createToolArgumentsScorer'
  const { id = 'tool_arguments', passAt, ...more } = readOptions(factory, options, KNOWN)
  const { tools = [], expected, strict = false, count: counted = 'all' } = more
  expectFlags(factory, { strict })
  expectCount(factory, counted)
  expectOption(areTools(tools), factory, 'tools to be a list of { name, parameters: JSON Schema }', tools)
  if (expected !== undefined && typeof expected !== 'function') {
    expectOption(areExpectedCalls(expected), factory, CALLS, expected)
  }
  const own = new Map(tools.map((tool) => [tool.name, tool.parameters]))
  const configured = new Set([...own.keys(), ...(Array.isArray(expected) ? expected.map(({ name }) => name) : [])])
  const known = new KnownTools(id, configured)
  return defineScorer({
    id,
    description: 'Share of tool calls whose arguments are right.',
    kind: 'code',
    passAt,
    identity: { scorer: 'tool_arguments', tools, expected, strict, ...(counted !== 'all' && { count: counted }) },
    // The developer's patterns may be slow, so they do not run while a span is ending.
    inline: !tools.some(({ parameters }) => hasPatterns(parameters)),
    needs: ['toolNames', 'toolArguments', 'availableTools'],
    // Calls that were made are checked by their schemas even if the run failed later.
    mayLack: expected === undefined ? ['toolCalls', 'availableTools'] : ['availableTools'],
    assess: (run, _context, reads) => {
      const wanted =
        typeof expected === 'function' ? expectReturned(expected(run), id, CALLS, areExpectedCalls) : expected
      if (expected !== undefined && wanted === undefined) {
        return skip('not-applicable', explain`${contentFree(id)}: no calls are expected of this run.`)
      }
      const none = wanted === undefined ? skipWithoutCalls(reads) : undefined
      if (none !== undefined) return none
      const names = run.toolCalls.map(({ name }) => name)
      const notOffered = known.check(
        reads.run,
        names,
        (wanted ?? []).map(({ name }) => name),
      )
      if ('status' in notOffered) return notOffered
      const assess = (patterns: LinearPatterns | undefined): ScoredVerdict | Skipped => {
        const schemas = new ToolSchemas(run, own, patterns)
        const rules = { strict, configured, counted }
        return wanted === undefined
          ? bySchemas(run, schemas, { ...rules, reads })
          : byValues(run, wanted, schemas, { ...rules, id, notOffered })
      }
      const called = new Set(names)
      const recorded = run.availableTools?.filter(({ name }) => called.has(name) && !own.has(name))
      return withLinearPatterns(recorded, assess)
    },
  })
}

const CALLS = '"expected" to be calls { name, arguments: { <argument>: [allowed, …] } }'

/** The schemas of a run's tools, the developer's before the recorded ones, and how each kind is checked. */
class ToolSchemas {
  readonly #own: ReadonlyMap<string, unknown>
  readonly #recorded: ReadonlyMap<string, unknown>
  readonly #ownCheck = ownSchemaCheck()
  readonly #recordedCheck: SchemaCheck

  constructor(run: AgentRun, own: ReadonlyMap<string, unknown>, patterns: LinearPatterns | undefined) {
    this.#own = own
    this.#recorded = new Map(run.availableTools?.map(({ name, parameters }) => [name, parameters]))
    this.#recordedCheck = recordedSchemaCheck(patterns)
  }

  get(name: string): unknown {
    return this.#own.has(name) ? this.#own.get(name) : this.#recorded.get(name)
  }

  checkOf(name: string): SchemaCheck {
    return this.#own.has(name) ? this.#ownCheck : this.#recordedCheck
  }

  /** The parts of the schemas that were not checked. They quote the schemas. */
  get unchecked(): readonly string[] {
    return [...this.#ownCheck.names, ...this.#recordedCheck.names]
  }
}

interface Rules {
  readonly strict: boolean
  /** Names of tools that the developer wrote. */
  readonly configured: ReadonlySet<string>
  readonly counted: NonNullable<CountOption['count']>
}

function bySchemas(
  run: AgentRun,
  schemas: ToolSchemas,
  { strict, configured, counted, reads }: Rules & { readonly reads: Reads },
): ScoredVerdict | Skipped {
  const checked = run.toolCalls.flatMap((call, index): CheckedCall[] => {
    const { name, arguments: given } = call
    const schema = schemas.get(name)
    if (!isRecord(schema) || !isCounted(call, counted)) return []
    const errors = validateJson(strict ? closed(schema) : schema, given ?? {}, schemas.checkOf(name))
    return [{ name, index, errors }]
  })
  if (checked.length === 0) {
    const calls = count(run.toolCalls.length, 'call')
    const id = reads.scorerId
    if (!run.toolCalls.some((call) => isCounted(call, counted))) {
      return skip('not-applicable', explain`${contentFree(id)}: none of the ${calls} succeeded.`)
    }
    const message = explain`${contentFree(id)}: no schema of the ${calls} is known. Give the option tools, or expected.`
    return skipWithoutFact(reads.run, 'availableTools', id) ?? skip('no-content', message)
  }
  const valid = checked.filter(({ errors }) => errors.length === 0)
  const fault = explain`${firstFault(checked, configured)}${explainUncounted(run.toolCalls, counted)}`
  return {
    status: 'scored',
    value: valid.length / checked.length,
    explanation: explain`${valid.length} of ${count(checked.length, 'call')} fit the schema.${fault}${notChecked(schemas)}`,
    findings: checked.flatMap(toFindings),
    ...(schemas.unchecked.length > 0 && { details: { unchecked: schemas.unchecked } }),
  }
}

/** An actual call of an expected tool. */
interface MadeCall {
  readonly call: ToolCall
  readonly index: number
}

function byValues(
  run: AgentRun,
  wanted: readonly ExpectedArguments[],
  schemas: ToolSchemas,
  { strict, configured, counted, id, notOffered }: Rules & { readonly id: string; readonly notOffered: Explanation },
): ScoredVerdict | Skipped {
  const names = new Set(wanted.map(({ name }) => name))
  const compared = run.toolCalls.filter(({ name }) => names.size === 0 || names.has(name))
  const uncounted = explainUncounted(compared, counted)
  const made = run.toolCalls.flatMap((call, index): MadeCall[] =>
    compared.includes(call) && isCounted(call, counted) ? [{ call, index }] : [],
  )
  if (names.size === 0) return byNone(made, configured, uncounted)
  const texts = new Map<string, string>()
  const expectations = wanted.map(({ name, arguments: allowed }): CallExpectation => {
    const rules = { schema: schemas.get(name), check: schemas.checkOf(name), strict, texts }
    return { name, compare: (call, shows) => checkArguments(call.arguments, allowed, { ...rules, shows }) }
  })
  const calls = made.map(({ call }) => call)
  const pairing = pairCalls(id, expectations, calls, true)
  if ('status' in pairing) return pairing
  return byPairing(wanted, made, pairing, schemas, { configured, more: explain`${uncounted}${notOffered}` })
}

/** No tool may be called. */
function byNone(made: readonly MadeCall[], configured: ReadonlySet<string>, uncounted: Explanation): ScoredVerdict {
  const names = made.map(({ call: { name } }) => name)
  const called = names.length === 0 ? explain`none was` : explain`called: ${listNames(names, configured)}`
  return {
    status: 'scored',
    value: Number(made.length === 0),
    explanation: explain`No tool may be called; ${called}.${uncounted}`,
    findings: made.map(({ call: { name: text }, index }): Finding => ({
      about: 'call',
      verdict: 'unexpected',
      rating: 'bad',
      text,
      places: [{ in: 'call', index }],
    })),
  }
}

function byPairing(
  wanted: readonly ExpectedArguments[],
  made: readonly MadeCall[],
  { partners, faultsOf }: Pairing,
  schemas: ToolSchemas,
  { configured, more }: { readonly configured: ReadonlySet<string>; readonly more: Explanation },
): ScoredVerdict {
  const matched = partners.filter((partner) => partner !== undefined).length
  const total = Math.max(wanted.length, made.length)
  const checked = made.map(({ call: { name }, index }, right): CheckedCall => ({
    name,
    index,
    errors: faultsOf(right),
  }))
  const open = [...wanted.keys()].filter((left) => partners[left] === undefined)
  const missing = open.flatMap((left) => wanted[left]?.name ?? [])
  const notMade = missing.length === 0 ? explain`` : explain` Not made as expected: ${listNames(missing, configured)}.`
  const summary = explain`${matched} of ${count(wanted.length, 'expected call')} were made with allowed arguments, of ${made.length} calls in all.`
  return {
    status: 'scored',
    value: matched / total,
    explanation: explain`${summary}${notMade}${more}${firstFault(checked, configured)}${notChecked(schemas)}`,
    findings: [
      ...checked.flatMap(toFindings),
      ...missing.map((name): Finding => ({ about: 'call', verdict: 'missing', rating: 'bad', text: name })),
    ],
    ...(schemas.unchecked.length > 0 && { details: { unchecked: schemas.unchecked } }),
  }
}

/** Rejects a schema under another name than `parameters`, which would hide the recorded one. */
function areTools(value: unknown): boolean {
  return (
    Array.isArray(value) &&
    value.every(
      (tool: unknown) =>
        isRecord(tool) &&
        typeof tool.name === 'string' &&
        (tool.parameters === undefined ? !('inputSchema' in tool) : isJsonSchema(tool.parameters)),
    )
  )
}

/** What was found in the arguments of a call: each error, with its path; or that there is none. */
function toFindings({ name, index, errors }: CheckedCall): readonly Finding[] {
  const at = { about: 'call', text: name } as const
  if (errors.length === 0) return [{ ...at, verdict: 'valid', rating: 'good', places: [{ in: 'call', index }] }]
  return errors.map(({ path, code, message }) => ({
    ...at,
    verdict: code,
    rating: 'bad',
    reason: message,
    places: [{ in: 'arguments', index, path }],
  }))
}

function areExpectedCalls(value: unknown): boolean {
  return (
    Array.isArray(value) &&
    value.every(
      (call: unknown) =>
        isRecord(call) &&
        typeof call.name === 'string' &&
        isRecord(call.arguments) &&
        Object.values(call.arguments).every((allowed) => Array.isArray(allowed)),
    )
  )
}

function firstFault(checked: readonly CheckedCall[], configured: ReadonlySet<string>): Explanation {
  const faulty = checked.find(({ errors }) => errors.length > 0)
  const error = faulty?.errors[0]
  if (faulty === undefined || error === undefined) return explain``
  return explain` ${listNames([faulty.name], configured)}: ${error.message} (${contentFree(error.code)}).`
}

function notChecked({ unchecked }: ToolSchemas): Explanation {
  return unchecked.length === 0 ? explain`` : explain` Not checked: ${unchecked.join(', ')}.`
}

/** Disallows additional properties, unless the schema itself allows them. Cached, because what is read of a schema is cached for it. */
function closed(schema: Record<string, unknown>): Record<string, unknown> {
  const isOpen = ['additionalProperties', 'patternProperties', 'allOf', 'anyOf', 'oneOf', '$ref'].every(
    (key) => !(key in schema),
  )
  if (!isOpen || !isRecord(schema.properties)) return schema
  const known = CLOSED.get(schema) ?? { ...schema, additionalProperties: false }
  CLOSED.set(schema, known)
  return known
}

const CLOSED = new WeakMap<Record<string, unknown>, Record<string, unknown>>()
