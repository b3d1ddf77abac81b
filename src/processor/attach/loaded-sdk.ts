import { createRequire } from 'node:module'

/** Where every copy of `@opentelemetry/api` 1.x keeps what was registered. */
const API = Symbol.for('opentelemetry.js.api.1')

/** Whether this process has loaded an OpenTelemetry SDK, as far as that can be seen: one in a bundle cannot. */
export function hasLoadedSdk(): boolean {
  // What is registered beside a tracer provider: a context manager, a meter provider.
  if (Reflect.get(globalThis, API) !== undefined) return true
  return Object.keys(createRequire(import.meta.url).cache).some((path) => /[\\/]@opentelemetry[\\/]sdk-/.test(path))
}
