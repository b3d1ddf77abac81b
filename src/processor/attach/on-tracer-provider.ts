import { globalSlot } from '../../scoring/global-slot.ts'
import { globalTracerProvider, unwrapped } from './tracer-providers.ts'

/** Where every copy of `@opentelemetry/api` 1.x, CommonJS or ESM, stores its globals. */
const API = Symbol.for('opentelemetry.js.api.1')

/**
 * Calls back once with the global tracer provider, now or when it is registered.
 *
 * A program may have several copies of the API, and the SDK may register through any of them. All of them write to one global object, so
 * this watches that object with a setter. After the first write, it becomes a plain property again.
 */
export function onTracerProvider(found: (provider: object) => void): void {
  const provider = globalTracerProvider()
  if (provider !== undefined) return found(provider)
  waiting.add(found)
  if (waiting.size === 1) watchRegistration(foundByAll)
}

/** Shared by every copy of the package: a second watcher of the same property would replace the first. */
const waiting = globalSlot('waiting', () => new Set<(provider: object) => void>(), isSet)

function foundByAll(provider: object): void {
  const callbacks = [...waiting]
  waiting.clear()
  for (const callback of callbacks) callback(provider)
}

function watchRegistration(found: (provider: object) => void): void {
  const api: unknown = Reflect.get(globalThis, API)
  if (isObject(api)) return watchTrace(api, found)
  onFirstValue(globalThis, API, (created) => watchTrace(created, found))
}

function watchTrace(api: object, found: (provider: object) => void): void {
  onFirstValue(api, 'trace', (proxy) => {
    const provider = unwrapped(proxy)
    if (provider !== undefined && provider !== proxy) return found(provider)
    // The API registers its proxy first, and gives it the provider in the next statement.
    const setDelegate: unknown = Reflect.get(proxy, 'setDelegate')
    if (typeof setDelegate !== 'function') return found(proxy)
    Reflect.set(proxy, 'setDelegate', function (this: unknown, delegate: object): void {
      Reflect.deleteProperty(proxy, 'setDelegate')
      Reflect.apply(setDelegate, this, [delegate])
      found(delegate)
    })
  })
}

/** Calls back when an object is assigned to a property that is not set yet. */
function onFirstValue(target: object, key: string | symbol, assigned: (value: object) => void): void {
  Object.defineProperty(target, key, {
    configurable: true,
    enumerable: true,
    get: () => undefined,
    set(value: unknown) {
      if (!isObject(value)) return
      Object.defineProperty(target, key, { configurable: true, enumerable: true, writable: true, value })
      assigned(value)
    },
  })
}

function isSet(value: unknown): value is Set<(provider: object) => void> {
  return value instanceof Set
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}
