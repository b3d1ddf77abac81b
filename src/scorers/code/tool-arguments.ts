import type { AgentRun, ToolCall } from '../../model/agent-run.ts'
import { defineScorer } from '../../scoring/define-scorer.ts'
import type { Skipped } from '../../model/score.ts'
import type { Scorer, ScoredVerdict } from '../../scoring/scorer.ts'
import { isRecord } from '../../spans/json.ts'
import type { ToolDefinition } from '../../model/message.ts'
import { checkArguments } from './allowed-arguments.ts'
import type { AllowedArguments } from './allowed-arguments.ts'
import { count, list, skipWithoutArguments } from './code-scorer.ts'
import { expectFlags, expectOption, isJsonSchema, readOptions } from '../read-options.ts'
import type { KeysOf } from '../read-options.ts'
import { scorerKeys } from '../scorer-options.ts'
import type { ScorerOptions } from '../scorer-options.ts'
import { validateJson } from './json-schema.ts'
import type { SchemaError } from './json-schema.ts'
import { maximumMatching } from './maximum-matching.ts'
import { skip, skipWithoutFact } from '../skip.ts'

/** A call that the run should make, with the values that will do for each argument. */
export interface ExpectedArguments {
  readonly name: string
  readonly arguments: AllowedArguments
}

/** Options of `createToolArgumentsScorer`. */
export interface ToolArgumentsOptions extends ScorerOptions {
  /** Tools with the JSON Schema of their arguments, beside those that the run recorded; they go before those. @default none */
  readonly tools?: readonly ToolDefinition[]
  /** The calls that the run should make, or a function that says them for each run. @default none: schemas alone are checked */
  readonly expected?: readonly ExpectedArguments[] | ((run: AgentRun) => readonly ExpectedArguments[] | undefined)
  /**
   * Values compare as they are (else texts without case, blanks and punctuation, as the leaderboard does), and an argument that
   * the schema does not name is wrong even where the schema lets it pass. @default false
   */
  readonly strict?: boolean
}

const KNOWN: KeysOf<ToolArgumentsOptions> = { ...scorerKeys, tools: true, expected: true, strict: true }

/** One call, and what is wrong with its arguments. */
export interface CheckedCall {
  readonly name: string
  /** Index of the call in `run.toolCalls`. */
  readonly index: number
  readonly errors: readonly SchemaError[]
}

/**
 * Tool arguments, by code. Passes at 1.
 *
 * Without `expected`: the share of calls whose arguments are valid by the JSON Schema of their tool, as the run recorded it or as
 * `tools` says it; calls without a schema do not count. With `expected`: the share of expected calls that were made with allowed
 * values, by the rules of the Berkeley Function Calling Leaderboard (see `AllowedArguments`), out of the expected calls or the
 * calls made of these tools, whichever are more. Expected and made calls are paired one to one, as many as can be.
 *
 * Without calls, or without an expectation, `skipped: not-applicable`; without recorded arguments or schemas, `no-content`.
 *
 * @example
 * ```ts
 * const scorer = createToolArgumentsScorer({
 *   expected: [{ name: 'get_weather', arguments: { city: ['Oslo', 'Oslo, Norway'], unit: ['celsius', ''] } }],
 * })
 * ```
 *
 * @throws TypeError where an option is wrong or not known
 */
export function createToolArgumentsScorer(options: ToolArgumentsOptions = {}): Scorer {
  const factory = 'createToolArgumentsScorer'
  const { id = 'tool_arguments', tools = [], expected, strict = false, passAt } = readOptions(factory, options, KNOWN)
  expectFlags(factory, { strict })
  expectOption(areTools(tools), factory, 'tools to be a list of { name, parameters: JSON Schema }', tools)
  if (expected !== undefined && typeof expected !== 'function') {
    const shape = 'expected to be calls { name, arguments: { <argument>: [allowed, …] } }'
    expectOption(areExpectedCalls(expected), factory, shape, expected)
  }
  return defineScorer({
    id,
    description: 'Share of tool calls whose arguments are right.',
    kind: 'code',
    passAt,
    identity: { scorer: 'tool_arguments', tools, expected, strict },
    inline: true,
    needs: ['toolNames', 'toolArguments', 'availableTools'],
    assess: (run) => {
      const schemas = new Map<string, unknown>()
      for (const tool of [...(run.availableTools ?? []), ...tools]) schemas.set(tool.name, tool.parameters)
      const wanted = typeof expected === 'function' ? expected(run) : expected
      if (expected !== undefined && wanted === undefined) {
        return skip('not-applicable', `${id}: no calls are expected of this run.`)
      }
      if (run.toolCalls.length === 0 && !wanted?.length) return skip('not-applicable', `${id}: no tool was called.`)
      const unknown = skipWithoutArguments(run, id)
      if (unknown !== undefined) return unknown
      return wanted === undefined ? bySchemas(run, schemas, strict, id) : byValues(run, wanted, schemas, strict)
    },
  })
}

function bySchemas(
  run: AgentRun,
  schemas: ReadonlyMap<string, unknown>,
  strict: boolean,
  id: string,
): ScoredVerdict | Skipped {
  const checked = run.toolCalls.flatMap((call, index): CheckedCall[] => {
    const schema = schemas.get(call.name)
    if (!isRecord(schema)) return []
    return [{ name: call.name, index, errors: validateJson(strict ? closed(schema) : schema, call.arguments ?? {}) }]
  })
  if (checked.length === 0) {
    const message = `${id}: no schema of the ${count(run.toolCalls.length, 'call')} is known. Give the option tools, or expected.`
    return skipWithoutFact(run, 'availableTools', id) ?? skip('no-content', message)
  }
  const valid = checked.filter(({ errors }) => errors.length === 0)
  return {
    status: 'scored',
    value: valid.length / checked.length,
    explanation: `${valid.length} of ${count(checked.length, 'call')} fit the schema.${firstFault(checked)}`,
    details: { calls: checked },
  }
}

function byValues(
  run: AgentRun,
  wanted: readonly ExpectedArguments[],
  schemas: ReadonlyMap<string, unknown>,
  strict: boolean,
): ScoredVerdict {
  const names = new Set(wanted.map(({ name }) => name))
  const made = run.toolCalls.flatMap((call, index) => (names.has(call.name) ? [{ call, index }] : []))
  const faults = (
    left: ExpectedArguments | undefined,
    call: ToolCall | undefined,
  ): readonly SchemaError[] | undefined =>
    left === undefined || call === undefined || left.name !== call.name
      ? undefined
      : checkArguments(call.arguments, left.arguments, schemas.get(left.name), strict)
  const partners = maximumMatching(
    wanted.length,
    made.length,
    (left, right) => faults(wanted[left], made[right]?.call)?.length === 0,
  )
  const matched = partners.filter((partner) => partner !== undefined).length
  const total = Math.max(wanted.length, made.length)
  // What is left over on both sides: each call is told what keeps it from the expected call that it comes closest to.
  const open = wanted.filter((_call, index) => partners[index] === undefined)
  const checked = made.map(({ call, index }, right): CheckedCall => {
    if (partners.includes(right)) return { name: call.name, index, errors: [] }
    const tries = (open.length > 0 ? open : wanted).flatMap((left) => {
      const errors = faults(left, call)
      return errors === undefined ? [] : [errors]
    })
    const [closest = []] = tries.toSorted((one, other) => one.length - other.length)
    return { name: call.name, index, errors: closest }
  })
  const missing = open.map(({ name }) => name)
  const notMade = missing.length === 0 ? '' : ` Not made as expected: ${list(missing)}.`
  return {
    status: 'scored',
    value: total === 0 ? 1 : matched / total,
    explanation: `${matched} of ${count(wanted.length, 'expected call')} made with allowed arguments, ${made.length} made in all.${notMade}${firstFault(checked)}`,
    details: { calls: checked, missing },
  }
}

/** A schema under another name than `parameters` would hide the one that the run recorded. */
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

function firstFault(checked: readonly CheckedCall[]): string {
  const faulty = checked.find(({ errors }) => errors.length > 0)
  const error = faulty?.errors[0]
  return error === undefined ? '' : ` ${faulty?.name}: ${error.message} (${error.code}).`
}

/** The schema with no room for what it does not name, unless it says itself what may come beside. */
function closed(schema: Record<string, unknown>): Record<string, unknown> {
  const isOpen = ['additionalProperties', 'patternProperties', 'allOf', 'anyOf', 'oneOf', '$ref'].every(
    (key) => !(key in schema),
  )
  return isOpen && isRecord(schema.properties) ? { ...schema, additionalProperties: false } : schema
}
