import { isRecord } from '../../spans/json.ts'

/** Values that are copied without a pause. */
const VALUES_OF_A_STEP = 500

/** Deeper values cannot be copied, nor can those that hold themselves. */
const MAX_DEPTH = 5000

type Plain = Record<string, unknown> | unknown[]

/** A list or object whose values are being copied. */
interface OpenValue {
  readonly source: Readonly<Record<string, unknown>> | readonly unknown[]
  readonly copy: Plain
  /** The keys of an object that are yet to be copied, the last first; of a list, the indices. */
  readonly keys: string[]
}

/**
 * A copy of a value as `JSON.parse(JSON.stringify(value))` makes it, in steps, so that copying megabytes need not hold the event loop.
 *
 * @throws TypeError if JSON cannot hold the value, RangeError where it is nested too deep, and what its getters throw
 */
export function* plainCopy(value: unknown): Generator<undefined, unknown> {
  const open: OpenValue[] = []
  const copyOf = (given: unknown): unknown => {
    if (Array.isArray(given) || isRecord(given)) {
      if (open.length >= MAX_DEPTH) throw new RangeError('expected a value that is nested less deeply')
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
    if (copied % VALUES_OF_A_STEP === 0) yield
  }
  return top
}

/** What JSON makes of a value: what its `toJSON` gives; nothing of functions and symbols; null of numbers that it cannot write. */
function asJson(value: unknown, key: string): unknown {
  const given: unknown =
    isRecord(value) && typeof value['toJSON'] === 'function' ? Reflect.apply(value['toJSON'], value, [key]) : value
  if (typeof given === 'bigint') throw new TypeError('expected a value that JSON can hold, got a bigint')
  if (typeof given === 'function' || typeof given === 'symbol') return undefined
  if (typeof given !== 'number') return given
  // JSON has no negative zero.
  return Number.isFinite(given) ? given + 0 : null
}

/** As `JSON.parse` does it: `__proto__` is a key like any other. */
function setOwn(target: Record<string, unknown>, key: string, value: unknown): void {
  if (key !== '__proto__') target[key] = value
  else Object.defineProperty(target, key, { value, configurable: true, enumerable: true, writable: true })
}
