import { show } from '../../scoring/format-value.ts'

/** Reads one options object: what is missing gets its default, what is wrong throws `expected … got …` with its path. */
export class OptionReader {
  readonly #path: string
  readonly #values: Readonly<Record<string, unknown>>

  /** @throws TypeError where it is no object, or has a property that is not known. */
  constructor(path: string, values: unknown, known: readonly string[]) {
    if (!isRecord(values)) throw wrong(path, 'an object', values)
    this.#path = path
    this.#values = values
    for (const key of Object.keys(values)) {
      if (known.includes(key)) continue
      const meant = known.find((name) => name.toLowerCase() === key.toLowerCase())
      const expected = meant === undefined ? `one of ${known.join(', ')}` : meant
      throw new TypeError(`${path}.${key}: expected ${expected}, got an option that is not known.`)
    }
  }

  get(key: string): unknown {
    return this.#values[key]
  }

  wrong(key: string, expected: string): TypeError {
    return wrong(`${this.#path}.${key}`, expected, this.#values[key])
  }

  /** A whole number. */
  count(key: string, fallback: number, min: number): number {
    const value = this.#values[key] ?? fallback
    if (typeof value === 'number' && Number.isInteger(value) && value >= min) return value
    throw this.wrong(key, `a whole number, ${min} or more`)
  }

  /** Milliseconds, 0 or more. A timer holds 2^31 − 1 at most. */
  milliseconds(key: string, fallback: number): number {
    const value = this.#values[key] ?? fallback
    if (typeof value === 'number' && value >= 0 && value <= 2 ** 31 - 1) return value
    throw this.wrong(key, 'milliseconds, from 0 to 2147483647')
  }

  /** A number above 0, `Infinity` included. */
  limit(key: string, fallback: number): number {
    const value = this.#values[key] ?? fallback
    if (typeof value === 'number' && value >= 0) return value
    throw this.wrong(key, 'a number, 0 or more, or Infinity')
  }

  /** Above 0, at most 1. */
  probability(key: string): number | undefined {
    const value = this.#values[key]
    if (value === undefined) return undefined
    if (typeof value === 'number' && value > 0 && value <= 1) return value
    throw this.wrong(key, 'a number above 0 and at most 1')
  }

  flag(key: string, fallback: boolean): boolean {
    const value = this.#values[key] ?? fallback
    if (typeof value === 'boolean') return value
    throw this.wrong(key, 'true or false')
  }

  oneOf<const Value extends string>(key: string, values: readonly Value[], fallback: Value): Value {
    const value = this.#values[key] ?? fallback
    const found = values.find((candidate) => candidate === value)
    if (found !== undefined) return found
    throw this.wrong(key, `one of ${values.join(', ')}`)
  }

  /** Holds an optional function, or an object with these methods, to its shape; the compiler knows its type. */
  methods(key: string, names: readonly string[]): void {
    const value = this.#values[key]
    if (value === undefined) return
    if (isRecord(value) && names.every((name) => typeof value[name] === 'function')) return
    throw this.wrong(key, `an object with ${names.join(', ')}`)
  }

  function(key: string): void {
    const value = this.#values[key]
    if (value !== undefined && typeof value !== 'function') throw this.wrong(key, 'a function')
  }
}

/** A programming error in the options. */
export function wrong(path: string, expected: string, got: unknown): TypeError {
  return new TypeError(`${path}: expected ${expected}, got ${show(got)}.`)
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
