import { canonicalJson, isRecord } from '../../spans/json.ts'
import { show } from '../../scoring/format-value.ts'

/** What of a value breaks its schema. */
export interface SchemaError {
  /** Where in the value: `city`, `stops[2].name`; empty for the value itself. */
  readonly path: string
  /** In the words of the Berkeley Function Calling Leaderboard. */
  readonly code: 'missing_required' | 'unexpected_param' | 'type_error' | 'value_error'
  readonly message: string
}

/** Deeper values, and schemas that refer to themselves without end, are not followed. */
const MAX_DEPTH = 100
/** Longer texts are not held against a pattern: a slow one must not stall the application. */
const MAX_PATTERN_LENGTH = 10_000
const MAX_ERRORS = 20
/** Steps of one validation: schemas whose alternatives refer to one another in circles would take for ever. */
const MAX_STEPS = 100_000

/**
 * Holds a JSON value against a JSON Schema, at once and without compiling anything.
 *
 * It knows what tool definitions and structured output are written in: the validation keywords of drafts 4 to 2020-12 with
 * references inside the schema. `format`, references to other documents and `unevaluated…` do not assert anything, as an
 * unknown keyword does not. What is no schema at all accepts everything.
 *
 * @returns at most 20 errors; none where the value is valid
 */
export function validateJson(schema: unknown, value: unknown): readonly SchemaError[] {
  const errors: SchemaError[] = []
  new Validation(schema, errors, { left: MAX_STEPS }).validate(schema, value, '', 0)
  return errors.slice(0, MAX_ERRORS)
}

class Validation {
  readonly #root: unknown
  readonly #errors: SchemaError[]
  readonly #steps: { left: number }

  constructor(root: unknown, errors: SchemaError[], steps: { left: number }) {
    this.#root = root
    this.#errors = errors
    this.#steps = steps
  }

  validate(schema: unknown, value: unknown, path: string, depth: number): void {
    if (this.#errors.length >= MAX_ERRORS || depth > MAX_DEPTH || this.#steps.left-- <= 0) return
    if (schema === false) this.#add(path, 'unexpected_param', 'is not allowed')
    if (!isRecord(schema)) return
    if (typeof schema.$ref === 'string') this.validate(this.#resolve(schema.$ref), value, path, depth + 1)
    if (value === null && schema.nullable === true) return
    if (schema.type !== undefined && !hasType(schema.type, value)) {
      this.#add(path, 'type_error', `must be ${typeNames(schema.type)}, is ${show(value)}`)
      return
    }
    this.#validateValue(schema, value, path)
    if (typeof value === 'number') this.#validateNumber(schema, value, path)
    else if (typeof value === 'string') this.#validateString(schema, value, path)
    else if (Array.isArray(value)) this.#validateArray(schema, value, path, depth)
    else if (isRecord(value)) this.#validateObject(schema, value, path, depth)
    this.#validateCombined(schema, value, path, depth)
  }

  #validateValue(schema: Record<string, unknown>, value: unknown, path: string): void {
    if (Array.isArray(schema.enum) && !schema.enum.some((allowed) => isEqual(allowed, value))) {
      this.#add(path, 'value_error', `must be one of ${show(schema.enum)}, is ${show(value)}`)
    }
    if ('const' in schema && !isEqual(schema.const, value)) {
      this.#add(path, 'value_error', `must be ${show(schema.const)}, is ${show(value)}`)
    }
  }

  #validateNumber(schema: Record<string, unknown>, value: number, path: string): void {
    const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = schema
    // Draft 4 writes the exclusive bounds as booleans beside the others.
    const above = exclusiveMinimum === true ? minimum : exclusiveMinimum
    const below = exclusiveMaximum === true ? maximum : exclusiveMaximum
    const wrong =
      typeof minimum === 'number' && value < minimum
        ? `at least ${minimum}`
        : typeof maximum === 'number' && value > maximum
          ? `at most ${maximum}`
          : typeof above === 'number' && value <= above
            ? `above ${above}`
            : typeof below === 'number' && value >= below
              ? `below ${below}`
              : typeof multipleOf === 'number' && multipleOf > 0 && !isMultiple(value, multipleOf)
                ? `a multiple of ${multipleOf}`
                : undefined
    if (wrong !== undefined) this.#add(path, 'value_error', `must be ${wrong}, is ${value}`)
  }

  #validateString(schema: Record<string, unknown>, value: string, path: string): void {
    const { minLength, maxLength, pattern } = schema
    if (typeof minLength === 'number' && lengthOf(value) < minLength) {
      this.#add(path, 'value_error', `must have at least ${minLength} characters, is ${show(value)}`)
    }
    if (typeof maxLength === 'number' && lengthOf(value) > maxLength) {
      this.#add(path, 'value_error', `must have at most ${maxLength} characters, is ${show(value)}`)
    }
    if (typeof pattern === 'string' && !matches(pattern, value)) {
      this.#add(path, 'value_error', `must match ${pattern}, is ${show(value)}`)
    }
  }

  #validateArray(schema: Record<string, unknown>, value: readonly unknown[], path: string, depth: number): void {
    const { minItems, maxItems, uniqueItems, contains } = schema
    if (typeof minItems === 'number' && value.length < minItems) {
      this.#add(path, 'value_error', `must have at least ${minItems} items, has ${value.length}`)
    }
    if (typeof maxItems === 'number' && value.length > maxItems) {
      this.#add(path, 'value_error', `must have at most ${maxItems} items, has ${value.length}`)
    }
    if (uniqueItems === true && new Set(value.map((item) => canonicalJson(item))).size < value.length) {
      this.#add(path, 'value_error', 'must not repeat an item')
    }
    // Up to draft 2019-09 a list of `items` is what is `prefixItems` now, and `additionalItems` what is `items`.
    const prefix = Array.isArray(schema.items) ? schema.items : schema.prefixItems
    const rest = Array.isArray(schema.items) ? schema.additionalItems : schema.items
    const fixed = Array.isArray(prefix) ? prefix : []
    for (const [index, item] of value.entries()) {
      this.validate(index < fixed.length ? fixed[index] : rest, item, `${path}[${index}]`, depth + 1)
    }
    if (contains === undefined) return
    const count = value.filter((item) => this.#accepts(contains, item, depth)).length
    const [least, most] = [numberOr(schema.minContains, 1), numberOr(schema.maxContains, Number.POSITIVE_INFINITY)]
    if (count < least || count > most) this.#add(path, 'value_error', `has ${count} of the items that it must contain`)
  }

  #validateObject(schema: Record<string, unknown>, value: Record<string, unknown>, path: string, depth: number): void {
    const { properties, patternProperties, additionalProperties, propertyNames, minProperties, maxProperties } = schema
    const keys = Object.keys(value)
    for (const name of stringsOf(schema.required)) {
      if (!Object.hasOwn(value, name)) this.#add(join(path, name), 'missing_required', 'is missing')
    }
    const dependent = isRecord(schema.dependentRequired) ? Object.entries(schema.dependentRequired) : []
    for (const [name, needed] of dependent) {
      if (!Object.hasOwn(value, name)) continue
      const missing = stringsOf(needed).filter((other) => !Object.hasOwn(value, other))
      for (const other of missing) this.#add(join(path, other), 'missing_required', `is missing beside ${name}`)
    }
    if (typeof minProperties === 'number' && keys.length < minProperties) {
      this.#add(path, 'value_error', `must have at least ${minProperties} properties, has ${keys.length}`)
    }
    if (typeof maxProperties === 'number' && keys.length > maxProperties) {
      this.#add(path, 'value_error', `must have at most ${maxProperties} properties, has ${keys.length}`)
    }
    const patterns = isRecord(patternProperties) ? Object.entries(patternProperties) : []
    for (const key of keys) {
      const at = join(path, key)
      const own = isRecord(properties) && Object.hasOwn(properties, key)
      if (own) this.validate(properties[key], value[key], at, depth + 1)
      const matching = patterns.filter(([pattern]) => matches(pattern, key))
      for (const [, inner] of matching) this.validate(inner, value[key], at, depth + 1)
      if (!own && matching.length === 0) {
        if (additionalProperties === false) this.#add(at, 'unexpected_param', 'is not a property of the schema')
        else this.validate(additionalProperties, value[key], at, depth + 1)
      }
      if (propertyNames !== undefined) this.validate(propertyNames, key, at, depth + 1)
    }
  }

  #validateCombined(schema: Record<string, unknown>, value: unknown, path: string, depth: number): void {
    const { allOf, anyOf, oneOf, not } = schema
    if (Array.isArray(allOf)) for (const inner of allOf) this.validate(inner, value, path, depth + 1)
    if (Array.isArray(anyOf) && !anyOf.some((inner) => this.#accepts(inner, value, depth))) {
      this.#addClosest(anyOf, value, path, depth)
    }
    if (Array.isArray(oneOf)) {
      const count = oneOf.filter((inner) => this.#accepts(inner, value, depth)).length
      if (count === 0) this.#addClosest(oneOf, value, path, depth)
      else if (count > 1) this.#add(path, 'value_error', `must fit one alternative, fits ${count}`)
    }
    if (not !== undefined && this.#accepts(not, value, depth)) this.#add(path, 'value_error', 'is what it must not be')
    if (schema.if !== undefined) {
      const branch = this.#accepts(schema.if, value, depth) ? schema.then : schema.else
      this.validate(branch, value, path, depth + 1)
    }
  }

  #accepts(schema: unknown, value: unknown, depth: number): boolean {
    return this.#errorsOf(schema, value, '', depth).length === 0
  }

  #errorsOf(schema: unknown, value: unknown, path: string, depth: number): readonly SchemaError[] {
    const errors: SchemaError[] = []
    new Validation(this.#root, errors, this.#steps).validate(schema, value, path, depth + 1)
    return errors
  }

  /** Of several alternatives, none of which fits, the one that comes closest says what is wrong: it broke over the fewest things. */
  #addClosest(alternatives: readonly unknown[], value: unknown, path: string, depth: number): void {
    const tries = alternatives.map((inner) => this.#errorsOf(inner, value, path, depth))
    const ofRightType = tries.filter(
      (errors) => !errors.some((error) => error.code === 'type_error' && error.path === path),
    )
    const [closest] = ofRightType.toSorted((one, other) => one.length - other.length)
    if (closest === undefined)
      this.#add(path, 'type_error', `fits none of ${alternatives.length} alternatives, is ${show(value)}`)
    else for (const error of closest) this.#add(error.path, error.code, error.message)
  }

  /** `#`, `#/$defs/City`; `true`, which accepts everything, for what is not in the schema. */
  #resolve(reference: string): unknown {
    if (reference !== '#' && !reference.startsWith('#/')) return true
    let at: unknown = this.#root
    for (const token of reference.split('/').slice(1)) {
      const key = decodeToken(token)
      const inside = Array.isArray(at) ? at[Number(key)] : isRecord(at) && Object.hasOwn(at, key) ? at[key] : undefined
      if (inside === undefined) return true
      at = inside
    }
    return at
  }

  #add(path: string, code: SchemaError['code'], message: string): void {
    if (this.#errors.length < MAX_ERRORS)
      this.#errors.push({ path, code, message: `${path === '' ? 'The value' : path} ${message}` })
  }
}

/** Whether a value is of a type, or of one of several; `float`, `dict` and `tuple` are what schemas written for Python say. */
export function hasType(type: unknown, value: unknown): boolean {
  if (Array.isArray(type)) return type.some((one) => hasType(one, value))
  switch (type) {
    case 'null':
      return value === null
    case 'array':
    case 'tuple':
      return Array.isArray(value)
    case 'object':
    case 'dict':
      return isRecord(value)
    case 'integer':
      return typeof value === 'number' && Number.isInteger(value)
    case 'float':
      return typeof value === 'number'
    case 'number':
    case 'string':
    case 'boolean':
      return typeof value === type
    default:
      return true
  }
}

function typeNames(type: unknown): string {
  return Array.isArray(type) ? type.join(' or ') : String(type)
}

function isEqual(one: unknown, other: unknown): boolean {
  return one === other || canonicalJson(one) === canonicalJson(other)
}

/** Quotients of decimals are off by a rounding: .3 is a multiple of .1. */
function isMultiple(value: number, of: number): boolean {
  const quotient = value / of
  const nearest = Math.round(quotient)
  if (nearest === 0) return value === 0
  return Math.abs(quotient - nearest) <= Math.max(1e-9, 4 * Number.EPSILON * Math.abs(quotient))
}

/** Characters as people and JSON Schema count them: an emoji is one. */
function lengthOf(text: string): number {
  return Array.from(text).length
}

function matches(pattern: string, text: string): boolean {
  if (text.length > MAX_PATTERN_LENGTH) return true
  try {
    return new RegExp(pattern, 'u').test(text)
  } catch {
    // Patterns of other languages: what cannot be read asserts nothing.
    return true
  }
}

function stringsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : []
}

function numberOr(value: unknown, fallback: number): number {
  return typeof value === 'number' ? value : fallback
}

function join(path: string, key: string): string {
  return path === '' ? key : `${path}.${key}`
}

function decodeToken(token: string): string {
  try {
    return decodeURIComponent(token).replaceAll('~1', '/').replaceAll('~0', '~')
  } catch {
    return token
  }
}
