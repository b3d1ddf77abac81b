import { MIN_PROBABILITY } from '../../sampling/weight.ts'
import { isRecord } from '../../spans/json.ts'

/** The valid values of an option, and their form in an environment variable. */
export interface OptionKind {
  /** Completes the sentence "expected …". */
  readonly expected: string
  readonly accepts: (value: unknown) => boolean
  /** Absent if no environment variable takes the value. */
  readonly text?: {
    /** Replaces `expected` if the variable accepts less than the option. */
    readonly expected?: string
    /** Parses a text; `undefined` if it is invalid. */
    readonly read: (text: string) => unknown
  }
}

/** The longest delay of a Node.js timer. */
const LONGEST_MS = 2 ** 31 - 1

/** Decimal digits, with a fraction and an exponent; or `Infinity`. */
function readNumber(text: string): number | undefined {
  return /^(?:\d+(?:\.\d*)?(?:e[+-]?\d+)?|Infinity)$/i.test(text) ? Number(text) : undefined
}

function numeric(expected: string, accepts: (value: number) => boolean): OptionKind {
  return {
    expected,
    accepts: (value) => typeof value === 'number' && accepts(value),
    text: { read: readNumber },
  }
}

/** `true` or `false`. */
export const flag: OptionKind = {
  expected: 'true or false',
  accepts: (value) => typeof value === 'boolean',
  text: { read: (text) => ({ true: true, false: false })[text.toLowerCase()] },
}

/** A whole number, `lowest` or more. */
export function wholeNumber(lowest: number): OptionKind {
  return numeric(
    `a whole number, ${lowest} or more`,
    (value) => Number.isSafeInteger(value) && value >= lowest && value >= 0,
  )
}

/** A duration. */
export const milliseconds: OptionKind = numeric(
  `milliseconds, from 0 to ${LONGEST_MS}`,
  (value) => value >= 0 && value <= LONGEST_MS,
)

const SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 }

/** A duration as a text. */
export const duration: OptionKind = {
  expected: "a time such as '30m', '2h' or '1d'",
  accepts: (value) => typeof value === 'string' && secondsOf(value) !== undefined,
}

/** The seconds of `30m`, `2h` or `1d`; `undefined` for another text. */
export function secondsOf(text: string): number | undefined {
  const [, count, unit = ''] = /^([1-9]\d{0,5})([smhd])$/.exec(text) ?? []
  const seconds = SECONDS[unit]
  return seconds === undefined ? undefined : Number(count) * seconds
}

/** An upper limit. `Infinity` means no limit. */
export const limit: OptionKind = numeric('a number, 0 or more, or Infinity', (value) => value >= 0)

/** A probability above 0. */
export const probability: OptionKind = numeric('a number above 0 and at most 1', (value) => value > 0 && value <= 1)

/** What the tracer keeps: a probability, or `tracestate` to read it from each trace. */
export const upstream: OptionKind = {
  expected: "'tracestate', or a number above 0 and at most 1",
  accepts: (value) => value === 'tracestate' || probability.accepts(value),
  text: { read: (text) => (text === 'tracestate' ? text : readNumber(text)) },
}

/** A share of runs, fixed or computed for each run. No run may have a weight above 1000. */
export const sampleRate: OptionKind = {
  expected: `0, a number from ${MIN_PROBABILITY} to 1, or a function of the run that gives one`,
  accepts: (value) =>
    typeof value === 'function' || value === 0 || (typeof value === 'number' && value >= MIN_PROBABILITY && value <= 1),
  text: { expected: `0, or a number from ${MIN_PROBABILITY} to 1`, read: readNumber },
}

/** One of a few words. */
export function oneOf(...words: readonly string[]): OptionKind {
  return {
    expected: `one of ${words.join(', ')}`,
    accepts: (value) => typeof value === 'string' && words.includes(value),
    text: { read: (text) => text },
  }
}

/** A non-empty string. */
export const text: OptionKind = {
  expected: 'a non-empty string',
  accepts: isName,
  text: { read: (given) => given },
}

/** A list of non-empty strings. */
export const names: OptionKind = { expected: 'a list of names', accepts: areNames }

/** One name or several. */
export const nameOrNames: OptionKind = {
  expected: 'a name, or a list of at least one name',
  accepts: (value) => isName(value) || (areNames(value) && value.length > 0),
}

/** A function. Its signature is checked by the compiler only. */
export const callback: OptionKind = {
  expected: 'a function',
  accepts: (value) => typeof value === 'function',
}

/** An object with these methods. */
export function objectWith(...methods: readonly string[]): OptionKind {
  return {
    expected: `an object with ${methods.join(', ')}`,
    accepts: (value) => isRecord(value) && methods.every((name) => typeof value[name] === 'function'),
  }
}

/** An object of further options, which have their own rows. */
export const group: OptionKind = { expected: 'an object', accepts: isRecord }

function isName(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}

function areNames(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every(isName)
}
