import { globalSlot } from '../../scoring/global-slot.ts'
import { globalTracerProvider, unwrapped } from './tracer-providers.ts'

/** Where every copy of `@opentelemetry/api` 1.x, CommonJS or ESM, keeps what was registered. */
const API = Symbol.for('opentelemetry.js.api.1')

/**
 * Calls back once with the global tracer provider: immediately where one is registered, otherwise when one is.
 *
 * A program may have several copies of the API, of which the one that registers the SDK need not be ours. All of them write
 * to one global object, so it is there that the registration is watched; what is watched is a plain property again as soon
 * as it has been written.
 */
export function onTracerProvider(found: (provider: object) => void): void {
  const provider = globalTracerProvider()
  if (provider !== undefined) return found(provider)
  waiting.add(found)
  if (waiting.size === 1) watchRegistration(foundByAll)
}

/** Shared by every copy of the package: of two that watch the same property, the second would replace the first. */
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
    // The API registers its proxy first, and gives the provider to the proxy in the next statement.
    const setDelegate: unknown = Reflect.get(proxy, 'setDelegate')
    if (typeof setDelegate !== 'function') return found(proxy)
    Reflect.set(proxy, 'setDelegate', function (this: unknown, delegate: object): void {
      Reflect.deleteProperty(proxy, 'setDelegate')
      Reflect.apply(setDelegate, this, [delegate])
      found(delegate)
    })
  })
}

/** Calls back when an object is assigned to a property that has none yet. */
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
