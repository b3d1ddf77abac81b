/**
 * A value that all copies of the package in this process share (ESM and CommonJS, two versions, a hot reload), kept on
 * `globalThis[Symbol.for('spanscore.<name>')]`. If the slot holds a value of another shape, which another version stored there, the
 * value is replaced.
 */
export function globalSlot<T>(name: string, create: () => T, isValid: (value: unknown) => value is T): T {
  const key = Symbol.for(`spanscore.${name}`)
  const existing: unknown = Reflect.get(globalThis, key)
  if (isValid(existing)) return existing
  const created = create()
  Object.defineProperty(globalThis, key, { value: created, configurable: true, writable: true, enumerable: false })
  return created
}
