import { isRecord } from '../../../spans/json.ts'
import { formatValue } from '../../../scoring/format-value.ts'
import { ownSchemaCheck } from './schema-check.ts'
import type { SchemaCheck } from './schema-check.ts'
import {
  COMPARED_PER_STEP,
  canonicalConst,
  canonicalTexts,
  canonicalValue,
  costOf,
  decodeToken,
  entriesOf,
  hasAtLeast,
  hasAtMost,
  hasType,
  isMultiple,
  joinPath,
  lengthOf,
  numberOr,
  shownKey,
  stringsOf,
  typeNames,
} from './schema-values.ts'

/** One violation of a schema. */
export interface SchemaError {
  /** The path in the value: `city`, `stops[2].name`; empty for the value itself. */
  readonly path: string
  /** The kind of error, in the terms of the Berkeley Function Calling Leaderboard. */
  readonly code: 'missing_required' | 'unexpected_param' | 'type_error' | 'value_error'
  /** What was expected and what came. */
  readonly message: string
}

/** Deeper values, and endless references between schemas, are not followed. */
const MAX_DEPTH = 100
/** More errors of one value, or of one call, are not listed. */
export const MAX_ERRORS = 20

/** How many characters of a value are written, or counted, in that time. */
const READ_PER_STEP = 20
const COUNTED_PER_STEP = 200
/** The steps of an error, and of one that shows values. */
const ADD_STEPS = 5
const SHOW_STEPS = 20

/**
 * Validates a JSON value against a JSON Schema, synchronously and without compiling it.
 *
 * It supports what tool definitions and structured output use: the validation keywords of drafts 4 to 2020-12 with references inside the
 * schema. `format`, references to other documents and `unevaluated…` are ignored, like unknown keywords. A value that is not a schema
 * accepts everything.
 *
 * Anything that cannot be checked (an unsupported pattern, or what is left when `check` has no steps left) asserts nothing, not even inside
 * `not`, and `check` reports it.
 *
 * @param check matches patterns, and limits the cost of all validations that share it. @default the developer's own schema
 * @returns at most 20 errors; none if the value is valid
 */
export function validateJson(
  schema: unknown,
  value: unknown,
  check: SchemaCheck = ownSchemaCheck(),
): readonly SchemaError[] {
  const errors: SchemaError[] = []
  new Validation(schema, errors, check, 'errors').validate(schema, value, '', 0)
  return errors.slice(0, MAX_ERRORS)
}

/** Whether to find all errors, or only whether there is one, so that nothing is formatted that nobody sees. */
type Finds = 'errors' | 'whether'

class Validation {
  readonly #root: unknown
  readonly #errors: SchemaError[]
  readonly #check: SchemaCheck
  readonly #finds: Finds

  constructor(root: unknown, errors: SchemaError[], check: SchemaCheck, finds: Finds) {
    this.#root = root
    this.#errors = errors
    this.#check = check
    this.#finds = finds
  }

  get #isFull(): boolean {
    return this.#errors.length >= (this.#finds === 'whether' ? 1 : MAX_ERRORS)
  }

  validate(schema: unknown, value: unknown, path: string, depth: number): void {
    if (this.#isFull) return
    if (depth > MAX_DEPTH) {
      this.#check.note('schemas nested too deep')
      return
    }
    // A schema may have lists of thousands of types, and references of a million characters.
    if (!this.#check.spend(1 + costOf(schema))) return
    if (schema === false) this.#add(path, 'unexpected_param', 'is not allowed')
    if (!isRecord(schema)) return
    if (typeof schema.$ref === 'string') this.validate(this.#resolve(schema.$ref), value, path, depth + 1)
    if (value === null && schema.nullable === true) return
    if (schema.type !== undefined && !hasType(schema.type, value)) {
      this.#add(path, 'type_error', () => `must be ${typeNames(schema.type)}, is ${formatValue(value)}`)
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
    const { enum: allowed } = schema
    const hasConst = 'const' in schema
    if (!Array.isArray(allowed) && !hasConst) return
    const text = canonicalValue(value)
    if (!this.#check.spend(1 + text.length / READ_PER_STEP)) return
    if (Array.isArray(allowed) && !canonicalTexts(allowed).has(text)) {
      this.#add(path, 'value_error', () => `must be one of ${formatValue(allowed)}, is ${formatValue(value)}`)
    }
    if (hasConst && canonicalConst(schema) !== text) {
      this.#add(path, 'value_error', () => `must be ${formatValue(schema.const)}, is ${formatValue(value)}`)
    }
  }

  #validateNumber(schema: Record<string, unknown>, value: number, path: string): void {
    const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = schema
    // Draft 4 has exclusive bounds as booleans beside the others.
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
    const isCounted = typeof minLength === 'number' || typeof maxLength === 'number'
    if (isCounted && !this.#check.spend(value.length / COUNTED_PER_STEP)) return
    if (typeof minLength === 'number' && !hasAtLeast(value, minLength)) {
      this.#add(path, 'value_error', () => `must have at least ${minLength} characters, is ${formatValue(value)}`)
    }
    if (typeof maxLength === 'number' && !hasAtMost(value, maxLength)) {
      this.#add(path, 'value_error', () => `must have at most ${maxLength} characters, is ${formatValue(value)}`)
    }
    if (typeof pattern === 'string' && this.#check.matches(pattern, value) === false) {
      this.#add(path, 'value_error', () => `must match ${shownKey(pattern)}, is ${formatValue(value)}`)
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
    if (uniqueItems === true && this.#check.spend(value.length)) {
      const texts = value.map((item) => canonicalValue(item))
      const isSpent = this.#check.spend(texts.reduce((sum, text) => sum + text.length, 0) / READ_PER_STEP)
      if (isSpent && new Set(texts).size < value.length) this.#add(path, 'value_error', 'must not repeat an item')
    }
    // Up to draft 2019-09, a list of `items` is today's `prefixItems`, and `additionalItems` is today's `items`.
    const prefix = Array.isArray(schema.items) ? schema.items : schema.prefixItems
    const rest = Array.isArray(schema.items) ? schema.additionalItems : schema.items
    const fixed = Array.isArray(prefix) ? prefix : []
    for (const [index, item] of value.entries()) {
      this.validate(index < fixed.length ? fixed[index] : rest, item, `${path}[${index}]`, depth + 1)
    }
    if (contains === undefined) return
    const fits = value.map((item) => this.#accepts(contains, item, depth))
    const [sure, possible] = [fits.filter((fit) => fit === true).length, fits.filter((fit) => fit !== false).length]
    const [least, most] = [numberOr(schema.minContains, 1), numberOr(schema.maxContains, Number.POSITIVE_INFINITY)]
    if (possible < least || sure > most) {
      this.#add(path, 'value_error', `has ${possible} of the items that it must contain`)
    }
  }

  #validateObject(schema: Record<string, unknown>, value: Record<string, unknown>, path: string, depth: number): void {
    const { properties, patternProperties, additionalProperties, propertyNames, minProperties, maxProperties } = schema
    const keys = Object.keys(value)
    const [dependent, patterns] = [entriesOf(schema.dependentRequired), entriesOf(patternProperties)]
    const names = lengthOf(schema.required) + dependent.length + keys.length
    if (!this.#check.spend(names / COMPARED_PER_STEP)) return
    for (const name of stringsOf(schema.required)) {
      if (!Object.hasOwn(value, name)) this.#add(joinPath(path, name), 'missing_required', 'is missing')
    }
    for (const [name, needed] of dependent) {
      if (!Object.hasOwn(value, name)) continue
      if (!this.#check.spend(lengthOf(needed) / COMPARED_PER_STEP)) return
      const missing = stringsOf(needed).filter((other) => !Object.hasOwn(value, other))
      for (const other of missing)
        this.#add(joinPath(path, other), 'missing_required', `is missing beside ${shownKey(name)}`)
    }
    if (typeof minProperties === 'number' && keys.length < minProperties) {
      this.#add(path, 'value_error', `must have at least ${minProperties} properties, has ${keys.length}`)
    }
    if (typeof maxProperties === 'number' && keys.length > maxProperties) {
      this.#add(path, 'value_error', `must have at most ${maxProperties} properties, has ${keys.length}`)
    }
    for (const key of keys) {
      const at = joinPath(path, key)
      const own = isRecord(properties) && Object.hasOwn(properties, key)
      if (own) this.validate(properties[key], value[key], at, depth + 1)
      let mayMatch = false
      for (const [pattern, inner] of patterns) {
        const isMatch = this.#check.matches(pattern, key)
        if (isMatch === true) this.validate(inner, value[key], at, depth + 1)
        if (isMatch !== false) mayMatch = true
        // A schema may have thousands of patterns, for thousands of keys.
        if (this.#check.isSpent) break
      }
      if (!own && !mayMatch) {
        if (additionalProperties === false) this.#add(at, 'unexpected_param', 'is not a property of the schema')
        else this.validate(additionalProperties, value[key], at, depth + 1)
      }
      if (propertyNames !== undefined) this.validate(propertyNames, key, at, depth + 1)
    }
  }

  #validateCombined(schema: Record<string, unknown>, value: unknown, path: string, depth: number): void {
    const { allOf, anyOf, oneOf, not } = schema
    if (Array.isArray(allOf)) for (const inner of allOf) this.validate(inner, value, path, depth + 1)
    if (Array.isArray(anyOf) && anyOf.every((inner) => this.#accepts(inner, value, depth) === false)) {
      this.#addClosest(anyOf, value, path, depth)
    }
    if (Array.isArray(oneOf)) {
      const fits = oneOf.map((inner) => this.#accepts(inner, value, depth))
      const sure = fits.filter((fit) => fit === true).length
      if (fits.every((fit) => fit === false)) this.#addClosest(oneOf, value, path, depth)
      else if (sure > 1) this.#add(path, 'value_error', `must fit one alternative, fits ${sure}`)
    }
    if (not !== undefined && this.#accepts(not, value, depth) === true) {
      this.#add(path, 'value_error', 'is a value that the schema excludes')
    }
    if (schema.if !== undefined) {
      const fits = this.#accepts(schema.if, value, depth)
      if (fits !== undefined) this.validate(fits ? schema.then : schema.else, value, path, depth + 1)
    }
  }

  /** Whether an inner schema accepts the value; `undefined` if something could not be checked. */
  #accepts(schema: unknown, value: unknown, depth: number): boolean | undefined {
    const before = this.#check.unchecked
    if (this.#errorsOf(schema, value, '', depth, 'whether').length > 0) return false
    return this.#check.unchecked === before ? true : undefined
  }

  #errorsOf(schema: unknown, value: unknown, path: string, depth: number, finds: Finds): readonly SchemaError[] {
    const errors: SchemaError[] = []
    new Validation(this.#root, errors, this.#check, finds).validate(schema, value, path, depth + 1)
    return errors
  }

  /** If no alternative fits, the closest one, which has the fewest violations, explains the error. */
  #addClosest(alternatives: readonly unknown[], value: unknown, path: string, depth: number): void {
    const tries = alternatives.map((inner) => this.#errorsOf(inner, value, path, depth, this.#finds))
    const ofRightType = tries.filter(
      (errors) => !errors.some((error) => error.code === 'type_error' && error.path === path),
    )
    const [closest] = ofRightType.toSorted((one, other) => one.length - other.length)
    if (closest === undefined)
      this.#add(path, 'type_error', `fits none of ${alternatives.length} alternatives, is ${formatValue(value)}`)
    else if (!this.#isFull) this.#errors.push(...closest.slice(0, MAX_ERRORS - this.#errors.length))
  }

  /** Resolves `#` or `#/$defs/City`; returns `true`, which accepts everything, for anything outside of the schema. */
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

  #add(path: string, code: SchemaError['code'], message: string | (() => string)): void {
    if (this.#isFull) return
    const isShown = typeof message !== 'string' && this.#finds === 'errors'
    if (!this.#check.spend(isShown ? SHOW_STEPS : ADD_STEPS)) return
    const words = typeof message === 'string' ? message : isShown ? message() : ''
    this.#errors.push({ path, code, message: `${path === '' ? 'The value' : path} ${words}` })
  }
}
