import { contentFree, explain } from '../../model/explanation.ts'
import type { Explanation } from '../../model/explanation.ts'
import { defineScorer } from '../../scoring/define-scorer.ts'
import type { Scorer } from '../../scoring/scorer.ts'
import { skip } from '../skip.ts'
import { answerOf, list } from './code-scorer.ts'
import { expectAmounts, expectFlags, expectOption, isJsonSchema, readOptions } from '../read-options.ts'
import type { KeysOf } from '../read-options.ts'
import { scorerKeys } from '../scorer-options.ts'
import type { ScorerOptions } from '../scorer-options.ts'
import { hasPatterns } from './schema/has-patterns.ts'
import { validateJson } from './schema/json-schema.ts'

/** Options of `createOutputFormatScorer`: at least one check. */
export interface OutputFormatOptions extends ScorerOptions {
  /** Whether the whole answer must be JSON. @default true if `schema` is given */
  readonly json?: boolean
  /** JSON Schema of the answer. */
  readonly schema?: Readonly<Record<string, unknown>>
  /** Whether to accept JSON in a Markdown code fence. @default false */
  readonly allowFence?: boolean
  /** Pattern that the answer must match; if several, all of them. */
  readonly pattern?: RegExp | readonly RegExp[]
  /** Pattern that the answer must not match; if several, none of them. */
  readonly forbidden?: RegExp | readonly RegExp[]
  /** Minimum number of characters, as people count them. */
  readonly minLength?: number
  /** Maximum number of characters, as people count them. */
  readonly maxLength?: number
}

const KNOWN: KeysOf<OutputFormatOptions> = {
  ...scorerKeys,
  json: true,
  schema: true,
  allowFence: true,
  pattern: true,
  forbidden: true,
  minLength: true,
  maxLength: true,
}

/**
 * Output format, by code: the share of the given checks that the answer passes. Passes at 1, which means all of them.
 *
 * @example
 * ```ts
 * const bullets = createOutputFormatScorer({ pattern: /^(?:[-*•] .+\n?)+$/, maxLength: 600 })
 * const order = createOutputFormatScorer({
 *   schema: { type: 'object', properties: { total: { type: 'number' } }, required: ['total'] },
 * })
 * ```
 *
 * @throws TypeError if there is no check, one is wrong, or an option is unknown
 */
export function createOutputFormatScorer(options: OutputFormatOptions): Scorer {
  const factory = 'createOutputFormatScorer'
  const { id = 'output_format', schema, passAt, minLength, maxLength } = readOptions(factory, options, KNOWN)
  const { json = schema !== undefined, allowFence = false } = options
  expectFlags(factory, { json, allowFence })
  expectAmounts(factory, { minLength, maxLength })
  const [least = 0, most = Infinity] = [minLength, maxLength]
  expectOption(least <= most, factory, `maxLength to be minLength, ${least}, or more`, maxLength)
  if (schema !== undefined) {
    expectOption(isJsonSchema(schema), factory, 'schema to be JSON Schema (of Zod: z.toJSONSchema(schema))', schema)
    expectOption(json, factory, 'json to be true if a schema is given', json)
  }
  const patterns = toPatterns(options.pattern, 'pattern')
  const forbidden = toPatterns(options.forbidden, 'forbidden')
  const checks: ((answer: string) => CheckResult)[] = [
    ...(json ? [(answer: string) => checkJson(answer, schema, allowFence)] : []),
    ...patterns.map((pattern) => (answer: string) => {
      const words = contentFree(`match ${String(pattern)}`)
      const check = contentFree(`matches ${String(pattern)}`)
      if (answer.length > MAX_PATTERN_ANSWER) return { check, isOpen: true }
      return pattern.test(answer) ? { check } : { check, problem: explain`does not ${words}` }
    }),
    ...forbidden.map((pattern) => (answer: string) => {
      const check = contentFree(`does not match ${String(pattern)}`)
      if (answer.length > MAX_PATTERN_ANSWER) return { check, isOpen: true }
      const problem = contentFree(`matches ${String(pattern)}, which is forbidden`)
      return pattern.test(answer) ? { check, problem } : { check }
    }),
    ...(minLength === undefined ? [] : [(answer: string) => checkLength(answer, minLength, 'at least')]),
    ...(maxLength === undefined ? [] : [(answer: string) => checkLength(answer, maxLength, 'at most')]),
  ]
  expectOption(
    checks.length > 0,
    factory,
    'at least one of json, schema, pattern, forbidden, minLength, maxLength',
    options,
  )
  return defineScorer({
    id,
    description: 'Share of the format checks that the answer passes.',
    kind: 'code',
    passAt,
    identity: { scorer: 'output_format', json, schema, allowFence, patterns, forbidden, minLength, maxLength },
    // The application's patterns may be slow, so they do not run while a span is ending.
    inline: patterns.length === 0 && forbidden.length === 0 && !hasPatterns(schema),
    needs: ['output'],
    assess: (_run, _context, reads) => {
      const answer = answerOf(reads)
      if (typeof answer !== 'string') return answer
      const results = checks.map((check) => check(answer))
      const held = results.filter(({ isOpen }) => isOpen !== true)
      const open = results.filter(({ isOpen }) => isOpen === true).map(({ check }) => check)
      if (held.length === 0) {
        return skip(
          'not-applicable',
          explain`${contentFree(id)}: the answer has ${answer.length} characters, and patterns are matched against ${MAX_PATTERN_ANSWER} at most.`,
        )
      }
      const problems = held.flatMap(({ problem }) => problem ?? [])
      const summary =
        problems.length === 0
          ? explain`The answer ${list(held.map(({ check }) => check))}.`
          : explain`The answer ${list(problems)}.`
      const rest = open.length === 0 ? explain`` : explain` Not checked, because the answer is too long: ${list(open)}.`
      return {
        status: 'scored',
        value: (held.length - problems.length) / held.length,
        explanation: explain`${summary}${rest}`,
        findings: held.map(({ check, problem }) => ({
          about: 'check',
          verdict: problem === undefined ? 'passed' : 'failed',
          rating: problem === undefined ? 'good' : 'bad',
          text: check.text,
          reason: problem?.text ?? '',
        })),
      }
    },
  })
}

/** Longer answers are not matched against patterns. */
const MAX_PATTERN_ANSWER = 20_000

interface CheckResult {
  readonly check: Explanation
  readonly problem?: Explanation
  /** Whether the check could not be made. */
  readonly isOpen?: boolean
}

function checkJson(answer: string, schema: unknown, allowFence: boolean): CheckResult {
  const check = contentFree(schema === undefined ? 'is JSON' : 'is JSON that fits the schema')
  const text = allowFence ? withoutFence(answer) : answer
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return { check, problem: contentFree('is not JSON') }
  }
  if (schema === undefined) return { check }
  const [error] = validateJson(schema, value)
  return error === undefined ? { check } : { check, problem: explain`does not fit the schema: ${error.message}` }
}

/** The text of a Markdown code fence that is the whole answer; any other answer unchanged. */
function withoutFence(answer: string): string {
  const text = answer.trim()
  const begin = text.indexOf('\n')
  if (begin === -1 || text.length < begin + 4 || !text.endsWith('```') || !/^```\w*$/.test(text.slice(0, begin))) {
    return answer
  }
  return text.slice(begin + 1, -3)
}

function checkLength(answer: string, length: number, bound: 'at least' | 'at most'): CheckResult {
  const actual = Array.from(answer).length
  const holds = bound === 'at least' ? actual >= length : actual <= length
  const check = explain`has ${contentFree(bound)} ${length} characters`
  return holds
    ? { check }
    : { check, problem: explain`has ${actual} characters, should have ${contentFree(bound)} ${length}` }
}

/** Copies patterns without `g` and `y`, which would make a run's result depend on the previous run. */
function toPatterns(given: RegExp | readonly RegExp[] | undefined, option: string): readonly RegExp[] {
  const patterns: readonly unknown[] = given === undefined ? [] : Array.isArray(given) ? given : [given]
  return patterns.map((pattern) => {
    expectOption(pattern instanceof RegExp, 'createOutputFormatScorer', `${option} to be a RegExp, or several`, pattern)
    return pattern instanceof RegExp ? new RegExp(pattern.source, pattern.flags.replaceAll(/[gy]/g, '')) : /(?:)/
  })
}
