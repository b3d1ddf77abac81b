import { RUN_FACTS } from '../scoring/absence.ts'
import { formatValue } from '../scoring/format-value.ts'
import { refuseUnknown } from '../scoring/refuse-unknown.ts'
import { isRecord } from '../spans/json.ts'

/** The names of all options. The compiler rejects an incomplete or excessive list. */
export type KeysOf<Options> = Readonly<Record<keyof Options, true>>

/**
 * Validates the option names of a factory: a misspelt option would be ignored, and the scorer would use its default.
 *
 * @param subject the owner of the options: the factory, and the enclosing option if they are nested
 * @param kind what is named: an option, or a field of a file
 * @throws TypeError if they are not an object, or have an unknown option
 */
export function readOptions<Options extends object>(
  subject: string,
  options: Options,
  known: KeysOf<NoInfer<Options>>,
  kind: 'option' | 'field' = 'option',
): Options {
  if (!isRecord(options)) throw new TypeError(`${subject}: expected an object of options, got ${formatValue(options)}.`)
  for (const key of Object.keys(options)) if (!Object.hasOwn(known, key)) refuseUnknown(subject, key, known, kind)
  return options
}

/** @throws TypeError `expected … got …` */
export function expectOption(holds: boolean, factory: string, expected: string, got: unknown): void {
  if (!holds) throw new TypeError(`${factory}: expected ${expected}, got ${formatValue(got)}.`)
}

/** @throws TypeError if one of these named options is neither true nor false */
export function expectFlags(factory: string, flags: Readonly<Record<string, unknown>>): void {
  for (const [name, flag] of Object.entries(flags)) {
    expectOption(typeof flag === 'boolean', factory, `${name} to be true or false`, flag)
  }
}

/** @throws TypeError if one of these named options is given and is not a non-negative number */
export function expectAmounts(factory: string, amounts: Readonly<Record<string, unknown>>): void {
  for (const [name, amount] of Object.entries(amounts)) {
    const isAmount = amount === undefined || (typeof amount === 'number' && amount >= 0)
    expectOption(isAmount, factory, `${name} to be a non-negative number`, amount)
  }
}

/** @throws TypeError if the option is not a list of strings; a single string would count as a list of characters */
export function expectTexts(factory: string, name: string, texts: unknown): void {
  expectOption(areTexts(texts), factory, `${name} to be a list of texts`, texts)
}

/** @throws TypeError if the option is not a list of facts that a run may lack */
export function expectFacts(factory: string, name: string, facts: unknown): void {
  const known: readonly string[] = RUN_FACTS
  const areFacts = areTexts(facts) && facts.every((fact) => known.includes(fact))
  expectOption(areFacts, factory, `${name} to be a list of ${known.join(', ')}`, facts)
}

/** Whether the value is a string or undefined. */
export function isTextOrNone(value: unknown): boolean {
  return value === undefined || typeof value === 'string'
}

/** Whether the value is a list of strings. */
export function areTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((text) => typeof text === 'string')
}

/**
 * Whether the value may be a JSON Schema. Schemas of libraries and of the AI SDK are objects too, but without any keyword, so that they
 * would accept every value.
 */
export function isJsonSchema(value: unknown): boolean {
  return isRecord(value) && !('~standard' in value) && !('jsonSchema' in value)
}
