import { canonicalJson, isRecord } from '../../spans/json.ts'
import { formatValue } from '../../scoring/format-value.ts'
import { validateJson } from './schema/json-schema.ts'
import type { SchemaCheck } from './schema/schema-check.ts'
import { hasType } from './schema/schema-values.ts'
import type { SchemaError } from './schema/json-schema.ts'

/** For each argument the values that will do; `''` among them: the argument may be left out. */
export type AllowedArguments = Readonly<Record<string, readonly unknown[]>>

/** How arguments are held against what is allowed. */
export interface ArgumentRules {
  /** JSON Schema of the tool's arguments, or of one of them, where it is known. */
  readonly schema: unknown
  readonly check: SchemaCheck
  readonly strict: boolean
}

/**
 * Holds the arguments of a call against allowed values, by the rules of the Berkeley Function Calling Leaderboard (its
 * `ast_checker`, Python): every argument must be among the allowed ones and of the schema's type (a whole number will do for a
 * float); texts compare without case, blanks and `, . / - _ * ^`; lists compare whole; an object's values are lists of allowed
 * values themselves, one level deep.
 *
 * `strict` compares values as they are, at any depth, and holds each argument against the whole of its schema.
 */
export function checkArguments(
  given: unknown,
  allowed: AllowedArguments,
  { schema, check, strict }: ArgumentRules,
): readonly SchemaError[] {
  if (given !== undefined && !isRecord(given)) {
    return [{ path: '', code: 'type_error', message: `The arguments must be an object, are ${formatValue(given)}` }]
  }
  const args = given ?? {}
  const { properties, required } = isRecord(schema) ? schema : {}
  const missing = [...new Set([...(Array.isArray(required) ? required.map(String) : []), ...needed(allowed)])].filter(
    (name) => !Object.hasOwn(args, name),
  )
  const errors: SchemaError[] = missing.map((name) => ({
    path: name,
    code: 'missing_required',
    message: `${name} is missing`,
  }))
  for (const [name, value] of Object.entries(args)) {
    const ownSchema = isRecord(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined
    const values = Object.hasOwn(allowed, name) ? allowed[name] : undefined
    if (values === undefined || (isRecord(properties) && ownSchema === undefined)) {
      errors.push({ path: name, code: 'unexpected_param', message: `${name} is not expected` })
    } else {
      errors.push(...checkValue(name, value, values, { schema: ownSchema, check, strict }))
    }
  }
  return errors
}

function needed(allowed: AllowedArguments): string[] {
  return Object.entries(allowed).flatMap(([name, values]) => (values.includes('') ? [] : [name]))
}

function checkValue(
  name: string,
  value: unknown,
  allowed: readonly unknown[],
  { schema, check, strict }: ArgumentRules,
): readonly SchemaError[] {
  if (strict) {
    const wrong = validateJson(schema, value, check)
    if (wrong.length > 0) {
      return wrong.map(({ path, code, message }) => ({
        path: `${name}${path === '' ? '' : `.${path}`}`,
        code,
        message,
      }))
    }
  } else if (!hasExpectedType(value, allowed, schema)) {
    return [
      { path: name, code: 'type_error', message: `${name} must be ${typeText(schema)}, is ${formatValue(value)}` },
    ]
  }
  const isAllowed = strict || isVariable(allowed, schema) ? isSameAs(value) : fitsLeniently(value)
  if (allowed.some(isAllowed)) return []
  return [
    {
      path: name,
      code: 'value_error',
      message: `${name} must be one of ${formatValue(allowed)}, is ${formatValue(value)}`,
    },
  ]
}

/** The schema's type, or that of the allowed values: where the value is a variable, they are its name. */
function hasExpectedType(value: unknown, allowed: readonly unknown[], schema: unknown): boolean {
  const type = isRecord(schema) ? schema.type : undefined
  if (type === undefined) return true
  const example = allowed.find((one) => one !== '')
  if (!hasType(type, value)) return example !== undefined && kindOf(example) === kindOf(value)
  const items = isRecord(schema) && isRecord(schema.items) ? schema.items.type : undefined
  if (!Array.isArray(value) || items === undefined) return true
  return allowed.some((list) => {
    const kinds = Array.isArray(list) ? new Set(list.map(kindOf)) : undefined
    return value.every((item) => hasType(items, item) || kinds === undefined || kinds.has(kindOf(item)))
  })
}

function isVariable(allowed: readonly unknown[], schema: unknown): boolean {
  const example = allowed.find((one) => one !== '')
  return example !== undefined && isRecord(schema) && schema.type !== undefined && !hasType(schema.type, example)
}

function isSameAs(value: unknown): (allowed: unknown) => boolean {
  const text = canonicalJson(value)
  return (allowed) => canonicalJson(allowed) === text
}

function fitsLeniently(value: unknown): (allowed: unknown) => boolean {
  return (allowed) => {
    if (typeof value === 'string') return typeof allowed === 'string' && normalise(value) === normalise(allowed)
    // An empty list is as good as none.
    if (Array.isArray(value) && value.length === 0 && allowed === '') return true
    if (Array.isArray(value) && Array.isArray(allowed)) {
      if (value.length !== allowed.length) return false
      return value.every((item, index) => fitsItem(item, allowed[index]))
    }
    if (isRecord(value)) return isRecord(allowed) && fitsObject(value, allowed)
    return isSameAs(value)(allowed)
  }
}

function fitsItem(item: unknown, allowed: unknown): boolean {
  if (isRecord(item)) return isRecord(allowed) && fitsObject(item, allowed)
  return isSameAs(normalised(item))(normalised(allowed))
}

/** Each key's value among the list of those allowed for it; keys beside them are none. */
function fitsObject(value: Record<string, unknown>, allowed: Record<string, unknown>): boolean {
  const keysFit = Object.entries(value).every(([key, inner]) => {
    const values = Object.hasOwn(allowed, key) ? allowed[key] : undefined
    return Array.isArray(values) && values.some((one) => isSameAs(normalised(inner))(normalised(one)))
  })
  const isComplete = Object.entries(allowed).every(
    ([key, values]) => Object.hasOwn(value, key) || (Array.isArray(values) && values.includes('')),
  )
  return keysFit && isComplete
}

function normalised(value: unknown): unknown {
  return typeof value === 'string' ? normalise(value) : value
}

/** `April 1, 2024` and `april 1 2024` are the same day. */
function normalise(text: string): string {
  return text
    .replaceAll(/[ ,./\-_*^]/g, '')
    .toLowerCase()
    .replaceAll("'", '"')
}

/** The type as Python sees it, which distinguishes whole numbers from others. */
function kindOf(value: unknown): string {
  if (Array.isArray(value)) return 'array'
  if (value === null) return 'null'
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number'
  return typeof value
}

function typeText(schema: unknown): string {
  return isRecord(schema) && typeof schema.type === 'string' ? `of type ${schema.type}` : 'of the type of the schema'
}
