import { closestName } from '../scoring/closest-name.ts'
import { formatValue } from '../scoring/format-value.ts'
import { isRecord } from '../spans/json.ts'

/** The names of all options: the compiler refuses a list that lacks one, or has one too many. */
export type KeysOf<Options> = Readonly<Record<keyof Options, true>>

/**
 * Gives back the options of a factory. One that is misspelt would else go unseen, and the scorer would score by its defaults.
 *
 * @param subject whose options these are: the factory, and the option that holds them where they are nested
 * @throws TypeError if they are no object, or hold an unknown option
 */
export function readOptions<Options extends object>(
  subject: string,
  options: Options,
  known: KeysOf<NoInfer<Options>>,
): Options {
  if (!isRecord(options)) throw new TypeError(`${subject}: expected an object of options, got ${formatValue(options)}.`)
  for (const key of Object.keys(options)) {
    if (Object.hasOwn(known, key)) continue
    const meant = closestName(key, Object.keys(known))
    const question = meant === undefined ? '' : ` Did you mean ${meant}?`
    const names = Object.keys(known).join(', ')
    throw new TypeError(`${subject}: expected one of ${names}, got an unknown option: ${formatValue(key)}.${question}`)
  }
  return options
}

/** @throws TypeError `expected … got …` */
export function expectOption(holds: boolean, factory: string, expected: string, got: unknown): void {
  if (!holds) throw new TypeError(`${factory}: expected ${expected}, got ${formatValue(got)}.`)
}

/** @throws TypeError if one of these options, by their names, is neither true nor false */
export function expectFlags(factory: string, flags: Readonly<Record<string, unknown>>): void {
  for (const [name, flag] of Object.entries(flags)) {
    expectOption(typeof flag === 'boolean', factory, `${name} to be true or false`, flag)
  }
}

/** @throws TypeError if one of these options, by their names, is given and is not a non-negative number */
export function expectAmounts(factory: string, amounts: Readonly<Record<string, unknown>>): void {
  for (const [name, amount] of Object.entries(amounts)) {
    const isAmount = amount === undefined || (typeof amount === 'number' && amount >= 0)
    expectOption(isAmount, factory, `${name} to be a non-negative number`, amount)
  }
}

/** @throws TypeError if the option is no list of texts: a text alone would be taken for the list of its letters */
export function expectTexts(factory: string, name: string, texts: unknown): void {
  expectOption(areTexts(texts), factory, `${name} to be a list of texts`, texts)
}

/** Whether the value is a text, or was left out. */
export function isTextOrNone(value: unknown): boolean {
  return value === undefined || typeof value === 'string'
}

/** Whether the value is a list of texts. */
export function areTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((text) => typeof text === 'string')
}

/**
 * Whether the value may be JSON Schema. Schemas of libraries and of the AI SDK are objects as well, and hold no keyword that says
 * anything: every value would be valid by them.
 */
export function isJsonSchema(value: unknown): boolean {
  return isRecord(value) && !('~standard' in value) && !('jsonSchema' in value)
}
