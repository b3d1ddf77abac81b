import { defineScorer } from '../../scoring/define-scorer.ts'
import type { Scorer } from '../../scoring/scorer.ts'
import { answerOf, list } from './code-scorer.ts'
import { expectAmounts, expectFlags, expectOption, isJsonSchema, readOptions } from '../read-options.ts'
import type { KeysOf } from '../read-options.ts'
import { scorerKeys } from '../scorer-options.ts'
import type { ScorerOptions } from '../scorer-options.ts'
import { validateJson } from './json-schema.ts'

/** Options of `createOutputFormatScorer`: at least one check. */
export interface OutputFormatOptions extends ScorerOptions {
  /** The whole answer must be JSON. @default true where `schema` is given */
  readonly json?: boolean
  /** JSON Schema that the answer must be valid by. */
  readonly schema?: Readonly<Record<string, unknown>>
  /** Takes JSON in a Markdown code fence for JSON. @default false */
  readonly allowFence?: boolean
  /** Must be found in the answer; several: each of them. */
  readonly pattern?: RegExp | readonly RegExp[]
  /** Must not be found in the answer; several: none of them. */
  readonly forbidden?: RegExp | readonly RegExp[]
  /** Characters, as people count them. */
  readonly minLength?: number
  /** Characters, as people count them. */
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

/** One check of the format, and what is wrong where it does not hold. */
export interface FormatCheck {
  readonly check: string
  readonly problem?: string
}

/**
 * Output format, by code: the share of the given checks that the answer holds. Passes at 1, which is all of them.
 *
 * @example
 * ```ts
 * const bullets = createOutputFormatScorer({ pattern: /^(?:[-*•] .+\n?)+$/, maxLength: 600 })
 * const order = createOutputFormatScorer({
 *   schema: { type: 'object', properties: { total: { type: 'number' } }, required: ['total'] },
 * })
 * ```
 *
 * @throws TypeError where there is no check, one is wrong, or an option is not known
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
    expectOption(json, factory, 'json to be true where a schema is given', json)
  }
  const patterns = toPatterns(options.pattern, 'pattern')
  const forbidden = toPatterns(options.forbidden, 'forbidden')
  const checks: ((answer: string) => FormatCheck)[] = [
    ...(json ? [(answer: string) => checkJson(answer, schema, allowFence)] : []),
    ...patterns.map((pattern) => (answer: string) => ({
      check: `matches ${String(pattern)}`,
      ...(!pattern.test(answer) && { problem: `does not match ${String(pattern)}` }),
    })),
    ...forbidden.map((pattern) => (answer: string) => ({
      check: `does not match ${String(pattern)}`,
      ...(pattern.test(answer) && { problem: `matches ${String(pattern)}, which is forbidden` }),
    })),
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
    description: 'Share of the checks of its form that the answer holds.',
    kind: 'code',
    passAt,
    identity: { scorer: 'output_format', json, schema, allowFence, patterns, forbidden, minLength, maxLength },
    inline: true,
    needs: ['output'],
    assess: (run) => {
      const answer = answerOf(run, id)
      if (typeof answer !== 'string') return answer
      const results = checks.map((check) => check(answer))
      const problems = results.flatMap(({ problem }) => problem ?? [])
      return {
        status: 'scored',
        value: (results.length - problems.length) / results.length,
        explanation:
          problems.length === 0
            ? `The answer holds: ${list(results.map(({ check }) => check))}.`
            : `The answer ${list(problems)}.`,
        details: { checks: results },
      }
    },
  })
}

function checkJson(answer: string, schema: unknown, allowFence: boolean): FormatCheck {
  const check = schema === undefined ? 'is JSON' : 'is JSON by the schema'
  const text = allowFence ? answer.replace(/^\s*```\w*\n([\s\S]*?)\n?```\s*$/, '$1') : answer
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return { check, problem: 'is not JSON' }
  }
  if (schema === undefined) return { check }
  const [error] = validateJson(schema, value)
  return error === undefined ? { check } : { check, problem: `does not fit the schema: ${error.message}` }
}

function checkLength(answer: string, length: number, bound: 'at least' | 'at most'): FormatCheck {
  const actual = Array.from(answer).length
  const holds = bound === 'at least' ? actual >= length : actual <= length
  const check = `has ${bound} ${length} characters`
  return holds ? { check } : { check, problem: `has ${actual} characters, should have ${bound} ${length}` }
}

/** Copies without `g` and `y`, which would make one run's result depend on the run before. */
function toPatterns(given: RegExp | readonly RegExp[] | undefined, option: string): readonly RegExp[] {
  const patterns: readonly unknown[] = given === undefined ? [] : Array.isArray(given) ? given : [given]
  return patterns.map((pattern) => {
    expectOption(pattern instanceof RegExp, 'createOutputFormatScorer', `${option} to be a RegExp, or several`, pattern)
    return pattern instanceof RegExp ? new RegExp(pattern.source, pattern.flags.replaceAll(/[gy]/g, '')) : /(?:)/
  })
}
