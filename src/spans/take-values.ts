// `node:util` would load parts of Node.js that take as long as all of our code.
import { isTypedArray } from 'node:util/types'

import { countCommas, isRecord, MAX_COPY_DEPTH, USUAL_KEYS, VALUES_OF_UNUSUAL_KEY } from './json.ts'

/** Values of one span or log record that are read. Reading more would take a turn of the event loop. */
const MOST_VALUES = 50_000

/** Bytes in byte arrays that are read of one span or log record. Further arrays are left out, because they are read while a span is ending. */
const MOST_BYTES = 1024 * 1024

/** What a value counts, beside the characters of its text. */
export const BYTES_OF_VALUE = 8

/** Values in shorter texts are not counted, and those in longer ones need not be: such a text alone is read after the end of its span. */
export const LEAST_COUNTED = 4000
const MOST_COUNTED = 256 * 1024

/** Longer keys count as content. */
export const USUAL_KEY_LENGTH = 256

/** The bytes of a key. Those of usual keys are part of what each attribute takes. */
export function bytesOfKey(key: string): number {
  return key.length > USUAL_KEY_LENGTH ? key.length : 0
}

/**
 * Takes the values of one span or log record into runs. Lists of texts and numbers stay as they are. Whatever else the application may still
 * change is copied into plain arrays and objects here, within bounds, and nowhere else: all other code may visit every item of what it reads.
 */
export class ValueTaker {
  /** One for each character of a text, eight for any other value, also for those in a long JSON text. */
  bytes = 0
  /** How many attributes and events were taken. */
  entries = 0
  /** Whether there are more values than are read, or deeper ones. */
  isTooRich = false
  #left = MOST_VALUES
  #bytesLeft = MOST_BYTES

  /**
   * A value that needs no copy as it is; otherwise a copy. `undefined` if it cannot be read, or is too rich. Never throws.
   */
  take(value: unknown): unknown {
    if (typeof value === 'string') {
      this.bytes += bytesOfText(value)
      return value
    }
    if (isPlain(value)) {
      this.bytes += BYTES_OF_VALUE
      return value
    }
    try {
      return this.#isPlainList(value) ? value : this.#copyOf(value, 1)
    } catch {
      return undefined
    }
  }

  /** Most lists in attributes have a few texts. */
  #isPlainList(value: unknown): boolean {
    if (!Array.isArray(value) || value.length > this.#left) return false
    let bytes = 0
    for (const item of value as readonly unknown[]) {
      if (!isPlain(item)) return false
      bytes += typeof item === 'string' ? bytesOfText(item) : BYTES_OF_VALUE
    }
    this.#left -= value.length
    this.bytes += bytes
    return true
  }

  #copyOf(value: unknown, depth: number): unknown {
    this.#spend()
    if (typeof value === 'string') {
      this.bytes += bytesOfText(value)
      return value
    }
    if (value instanceof Uint8Array) return this.#base64Of(value)
    if (typeof value !== 'object' || value === null || value instanceof Date) {
      this.bytes += BYTES_OF_VALUE
      return isPlain(value) ? value : formOf(value)
    }
    if (depth > MAX_COPY_DEPTH) this.#giveUp()
    if (Array.isArray(value) || isTypedArray(value)) {
      const items: unknown[] = []
      // Holes are items of the value undefined.
      for (let index = 0; index < value.length; index += 1) items.push(this.#copyOf(value[index], depth + 1))
      return items
    }
    const copy: Record<string, unknown> = {}
    for (const [index, key] of Object.keys(value).entries()) {
      if (index >= USUAL_KEYS) this.#spend(VALUES_OF_UNUSUAL_KEY - 1)
      if (key === '__proto__') continue
      this.bytes += bytesOfKey(key)
      copy[key] = this.#copyOf(Reflect.get(value, key), depth + 1)
    }
    return copy
  }

  // Bytes and times cannot be frozen: a scorer that writes to them would change what is exported. They are texts, as in files.
  #base64Of({ buffer, byteLength, byteOffset }: Uint8Array): string | undefined {
    this.bytes += byteLength
    if (byteLength > this.#bytesLeft) return undefined
    this.#bytesLeft -= byteLength
    return Buffer.from(buffer, byteOffset, byteLength).toString('base64')
  }

  #spend(values = 1): void {
    this.#left -= values
    if (this.#left < 0) this.#giveUp()
  }

  #giveUp(): never {
    this.isTooRich = true
    throw new RangeError('expected fewer values')
  }
}

/** The characters of a text, and what its values count if it is long JSON: reading dense JSON takes longer than reading prose. */
function bytesOfText(text: string): number {
  const { length } = text
  if (length < LEAST_COUNTED || length > MOST_COUNTED) return length
  const first = text.charAt(0)
  return first === '{' || first === '[' ? length + BYTES_OF_VALUE * countCommas(text) : length
}

/** A copy of an application's own attributes that shares nothing with them; empty if they cannot be read, or are too rich. Never throws. */
export function takenRecord(attributes: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const taken = new ValueTaker().take(attributes)
  return isRecord(taken) ? taken : {}
}

/**
 * Whether a value has the same form in JSON. With big integers, functions and symbols, code that writes a run as JSON, as judges and
 * `redact` do, would throw, or call into the application.
 */
function isPlain(value: unknown): boolean {
  const type = typeof value
  return type === 'string' || type === 'number' || type === 'boolean' || value === null || value === undefined
}

/** The JSON form of a time or a big integer, as in files; `undefined` for functions and symbols. */
function formOf(value: unknown): string | number | undefined {
  if (value instanceof Date) return timeOf(value)
  // Longer ones than OTLP has are left out, because writing them takes long.
  if (typeof value !== 'bigint' || BigInt.asIntN(64, value) !== value) return undefined
  const number = Number(value)
  return Number.isSafeInteger(number) ? number : String(value)
}

function timeOf(date: Date): string | undefined {
  const timeMs = Date.prototype.getTime.call(date)
  return Number.isNaN(timeMs) ? undefined : new Date(timeMs).toISOString()
}
