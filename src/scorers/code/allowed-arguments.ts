import { canonicalJson, isRecord } from '../../spans/json.ts'
import { formatValue } from '../../scoring/format-value.ts'
import { MAX_ERRORS, validateJson } from './schema/json-schema.ts'
import type { SchemaCheck } from './schema/schema-check.ts'
import { COMPARED_PER_STEP, hasType, lengthOf, stringsOf } from './schema/schema-values.ts'
import type { SchemaError } from './schema/json-schema.ts'

/** The allowed values of each argument. `''` among them means that the argument may be omitted. */
export type AllowedArguments = Readonly<Record<string, readonly unknown[]>>

/** How to compare arguments with the allowed values. */
export interface ArgumentRules {
  /** JSON Schema of the tool's arguments, or of one of them, if known. */
  readonly schema: unknown
  readonly check: SchemaCheck
  readonly strict: boolean
  /** The normalised forms of strings, because each is compared with every allowed value of every expected call. */
  readonly texts: Map<string, string>
  /** Whether to write messages. Of most pairs of calls, only the number of errors is used. */
  readonly shows: boolean
}

/**
 * Checks the arguments of a call by the rules of the Berkeley Function Calling Leaderboard (its `ast_checker`, Python): every argument must
 * have an allowed value and the schema's type (a whole number is a valid float). Strings are compared without case, blanks and `, . / - _ *
 * ^`; lists are compared as a whole; an object's values are themselves lists of allowed values, one level deep.
 *
 * `strict` compares values exactly, at any depth, and validates each argument against its whole schema.
 *
 * @returns at most 20 errors; none if the arguments are allowed
 */
export function checkArguments(
  given: unknown,
  allowed: AllowedArguments,
  { schema, check, strict, texts, shows }: ArgumentRules,
): readonly SchemaError[] {
  if (given !== undefined && !isRecord(given)) {
    const message = shows ? `The arguments must be an object, are ${formatValue(given)}` : ''
    return [{ path: '', code: 'type_error', message }]
  }
  const args = given ?? {}
  const { properties, required } = isRecord(schema) ? schema : {}
  // A recorded schema may require thousands of names, and calls may have as many arguments.
  const names = check.spend(lengthOf(required) / COMPARED_PER_STEP) ? stringsOf(required) : []
  const missing = [...new Set([...names, ...needed(allowed)])]
    .filter((name) => !Object.hasOwn(args, name))
    .slice(0, MAX_ERRORS)
  const errors: SchemaError[] = missing.map((name) => ({
    path: name,
    code: 'missing_required',
    message: `${name} is missing`,
  }))
  for (const [name, value] of Object.entries(args)) {
    if (errors.length >= MAX_ERRORS) break
    const ownSchema = isRecord(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined
    const cost = lengthOf(isRecord(ownSchema) ? ownSchema.type : undefined) / COMPARED_PER_STEP
    const values = Object.hasOwn(allowed, name) ? allowed[name] : undefined
    if (values === undefined || (isRecord(properties) && ownSchema === undefined)) {
      errors.push({ path: name, code: 'unexpected_param', message: `${name} is not expected` })
    } else {
      errors.push(
        ...checkValue(name, value, values, {
          schema: check.spend(cost) ? ownSchema : undefined,
          check,
          strict,
          texts,
          shows,
        }),
      )
    }
  }
  return errors.slice(0, MAX_ERRORS)
}

function needed(allowed: AllowedArguments): string[] {
  return Object.entries(allowed).flatMap(([name, values]) => (values.includes('') ? [] : [name]))
}

function checkValue(
  name: string,
  value: unknown,
  allowed: readonly unknown[],
  { schema, check, strict, texts, shows }: ArgumentRules,
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
  } else if (!hasExpectedType(value, allowed, schema, check)) {
    const message = shows ? `${name} must be ${typeText(schema)}, is ${formatValue(value)}` : ''
    return [{ path: name, code: 'type_error', message }]
  }
  const isAllowed = strict || isVariable(allowed, schema) ? isSameAs(value) : fitsLeniently(value, texts)
  if (allowed.some(isAllowed)) return []
  const message = shows ? `${name} must be one of ${formatValue(allowed)}, is ${formatValue(value)}` : ''
  return [{ path: name, code: 'value_error', message }]
}

/** Whether the value has the schema's type or that of the allowed values. If the value is a variable, the allowed values are its name. */
function hasExpectedType(value: unknown, allowed: readonly unknown[], schema: unknown, check: SchemaCheck): boolean {
  const type = isRecord(schema) ? schema.type : undefined
  if (type === undefined) return true
  const example = allowed.find((one) => one !== '')
  if (!hasType(type, value)) return example !== undefined && kindOf(example) === kindOf(value)
  const items = isRecord(schema) && isRecord(schema.items) ? schema.items.type : undefined
  if (!Array.isArray(value) || items === undefined) return true
  if (!check.spend((value.length * lengthOf(items) * allowed.length) / COMPARED_PER_STEP)) return true
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

type NormalisedTexts = ArgumentRules['texts']

function fitsLeniently(value: unknown, texts: NormalisedTexts): (allowed: unknown) => boolean {
  return (allowed) => {
    if (typeof value === 'string') {
      return typeof allowed === 'string' && normalise(value, texts) === normalise(allowed, texts)
    }
    // An empty list counts as omitted.
    if (Array.isArray(value) && value.length === 0 && allowed === '') return true
    if (Array.isArray(value) && Array.isArray(allowed)) {
      if (value.length !== allowed.length) return false
      return value.every((item, index) => fitsItem(item, allowed[index], texts))
    }
    if (isRecord(value)) return isRecord(allowed) && fitsObject(value, allowed, texts)
    return isSameAs(value)(allowed)
  }
}

function fitsItem(item: unknown, allowed: unknown, texts: NormalisedTexts): boolean {
  if (isRecord(item)) return isRecord(allowed) && fitsObject(item, allowed, texts)
  return isSameAs(normalised(item, texts))(normalised(allowed, texts))
}

/** Whether each key has one of its allowed values. Additional keys have none. */
function fitsObject(value: Record<string, unknown>, allowed: Record<string, unknown>, texts: NormalisedTexts): boolean {
  const keysFit = Object.entries(value).every(([key, inner]) => {
    const values = Object.hasOwn(allowed, key) ? allowed[key] : undefined
    return Array.isArray(values) && values.some((one) => isSameAs(normalised(inner, texts))(normalised(one, texts)))
  })
  const isComplete = Object.entries(allowed).every(
    ([key, values]) => Object.hasOwn(value, key) || (Array.isArray(values) && values.includes('')),
  )
  return keysFit && isComplete
}

function normalised(value: unknown, texts: NormalisedTexts): unknown {
  return typeof value === 'string' ? normalise(value, texts) : value
}

/** Normalises a string: `April 1, 2024` and `april 1 2024` are the same day. */
function normalise(text: string, texts: NormalisedTexts): string {
  const known = texts.get(text)
  if (known !== undefined) return known
  const plain = text
    .replaceAll(/[ ,./\-_*^]/g, '')
    .toLowerCase()
    .replaceAll("'", '"')
  texts.set(text, plain)
  return plain
}

/** The type in Python's terms, which distinguish integers from floats. */
function kindOf(value: unknown): string {
  if (Array.isArray(value)) return 'array'
  if (value === null) return 'null'
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number'
  return typeof value
}

function typeText(schema: unknown): string {
  return isRecord(schema) && typeof schema.type === 'string' ? `of type ${schema.type}` : 'of the type of the schema'
}
