import { globalSlot } from '../../scoring/global-slot.ts'
import { lookAt } from './look-at.ts'
import { globalTracerProvider, unwrapped } from './tracer-providers.ts'

/** Where every copy of `@opentelemetry/api` 1.x, CommonJS or ESM, stores its globals. */
const API = Symbol.for('opentelemetry.js.api.1')

/** Shared by every copy of the package, so that only one of them watches the global object. */
const watchers = globalSlot('watchers', () => new Set<(provider: object) => void>(), isSet)

/**
 * Calls back with the global tracer provider, now or when it is registered, and with each one that replaces it: hot reloads and tests disable
 * a provider, and Azure's distributions also delete all globals of the API before they register their own.
 *
 * A program may have several copies of the API, and the SDK may register through any of them. All of them write to one global object, so
 * this watches that object.
 *
 * @param found must not throw
 */
export function onTracerProvider(found: (provider: object) => void): void {
  watchers.add(found)
  if (watchers.size === 1) lookAt(watchGlobals)
  const provider = globalTracerProvider()
  if (provider !== undefined) found(provider)
}

function foundByAll(provider: object): void {
  for (const found of watchers) found(provider)
}

function watchGlobals(): void {
  const watchTrace = (api: object): void => watch(api, 'trace', watchProxy)
  watch(globalThis, API, watchTrace)
  const api: unknown = Reflect.get(globalThis, API)
  if (isObject(api)) watchTrace(api)
}

function watchProxy(proxy: object): void {
  const provider = unwrapped(proxy)
  if (provider !== undefined && provider !== proxy) return foundByAll(provider)
  // The API registers its proxy first, and gives it the provider in the next statement.
  const setDelegate: unknown = Reflect.get(proxy, 'setDelegate')
  if (typeof setDelegate !== 'function') return foundByAll(proxy)
  Reflect.set(proxy, 'setDelegate', function (this: unknown, delegate: object): void {
    Reflect.deleteProperty(proxy, 'setDelegate')
    Reflect.apply(setDelegate, this, [delegate])
    foundByAll(delegate)
  })
}

/**
 * Calls back with each object that is assigned to a property that the target does not have. The setter is above the target, so that it is
 * also there after the property was deleted; what is assigned becomes a plain property of the target itself.
 */
function watch(target: object, key: string | symbol, assigned: (value: object) => void): void {
  Object.defineProperty(prototypeOf(target), key, {
    configurable: true,
    get: () => undefined,
    set(value: unknown) {
      Object.defineProperty(target, key, { configurable: true, enumerable: true, writable: true, value })
      if (isObject(value)) lookAt(() => assigned(value))
    },
  })
}

/** The prototype of an object, which no other object has: the global one has such a prototype, and others get it. */
function prototypeOf(target: object): object {
  const prototype: unknown = Object.getPrototypeOf(target)
  if (isObject(prototype) && prototype !== Object.prototype) return prototype
  const own: object = Object.create(isObject(prototype) ? prototype : null)
  Object.setPrototypeOf(target, own)
  return own
}

function isSet(value: unknown): value is Set<(provider: object) => void> {
  return value instanceof Set
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}
