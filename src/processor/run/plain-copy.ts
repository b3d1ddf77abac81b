import { isRecord } from '../../spans/json.ts'

/** How many values are copied per step. */
const VALUES_OF_A_STEP = 500

/** A run that is read has fewer values in all. Whatever has more has no end. */
const MAX_VALUES = 10_000_000

/** Its lists are shorter; a longer one is longer than what it holds. */
const MAX_ITEMS = 1_000_000

/** Deeper or circular values cannot be copied. */
const MAX_DEPTH = 5000

type Plain = Record<string, unknown> | unknown[]

/** An array or object that is being copied. */
interface OpenValue {
  readonly source: Readonly<Record<string, unknown>> | readonly unknown[]
  readonly copy: Plain
  /** Keys or indices that are not copied yet, in reverse order. */
  readonly keys: string[]
}

/**
 * Copies a value like `JSON.parse(JSON.stringify(value))`, in steps, so that copying megabytes does not block the event loop.
 *
 * @throws TypeError if JSON cannot represent the value, RangeError if it is nested too deeply, and errors of its getters
 */
export function* plainCopy(value: unknown): Generator<undefined, unknown> {
  const open: OpenValue[] = []
  const copyOf = (given: unknown): unknown => {
    if (Array.isArray(given) || isRecord(given)) {
      if (open.length >= MAX_DEPTH) throw new RangeError('expected a value that is nested less deeply')
      if (Array.isArray(given) && given.length > MAX_ITEMS) throw new RangeError('expected a shorter list')
      const copy: Plain = Array.isArray(given) ? [] : {}
      const keys = Array.isArray(given) ? Array.from(given.keys(), String) : Object.keys(given)
      open.push({ source: given, copy, keys: keys.toReversed() })
      return copy
    }
    return given
  }
  const top = copyOf(asJson(value, ''))
  let copied = 0
  for (let inner = open.at(-1); inner !== undefined; inner = open.at(-1)) {
    const key = inner.keys.pop()
    if (key === undefined) {
      open.pop()
      continue
    }
    const given = asJson(Reflect.get(inner.source, key), key)
    if (Array.isArray(inner.copy)) inner.copy[Number(key)] = copyOf(given ?? null)
    else if (given !== undefined) setOwn(inner.copy, key, copyOf(given))
    copied += 1
    if (copied > MAX_VALUES) throw new RangeError('expected fewer values')
    if (copied % VALUES_OF_A_STEP === 0) yield
  }
  return top
}

/** Converts a value like JSON: uses `toJSON`, omits functions and symbols, and replaces non-finite numbers by null. */
function asJson(value: unknown, key: string): unknown {
  const given: unknown =
    isRecord(value) && typeof value['toJSON'] === 'function' ? Reflect.apply(value['toJSON'], value, [key]) : value
  if (typeof given === 'bigint') throw new TypeError('expected a value that JSON can hold, got a bigint')
  if (typeof given === 'function' || typeof given === 'symbol') return undefined
  if (typeof given !== 'number') return given
  // JSON has no negative zero.
  return Number.isFinite(given) ? given + 0 : null
}

/** Treats `__proto__` like any other key, as `JSON.parse` does. */
function setOwn(target: Record<string, unknown>, key: string, value: unknown): void {
  if (key !== '__proto__') target[key] = value
  else Object.defineProperty(target, key, { value, configurable: true, enumerable: true, writable: true })
}
