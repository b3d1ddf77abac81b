/** The method that `console.log` calls in Node.js. */
const INSPECT = Symbol.for('nodejs.util.inspect.custom')

/** The own properties that objects with a prototype get, by that prototype. */
const ownProperties = new WeakMap<object, PropertyDescriptorMap>()

/**
 * Prepares a class whose getters are facts that are read at first access: prints its objects in their JSON form, and lets
 * `withOwnFacts` find the getters. The facts have the order of the getters.
 *
 * The method for `console.log` is not declared in the class, because declarations cannot express its name.
 */
export function readsLazily(prototype: { toJSON(): unknown }, except: readonly string[] = []): void {
  const properties: PropertyDescriptorMap = {}
  for (const [name, getter] of Object.entries(Object.getOwnPropertyDescriptors(prototype))) {
    if (getter.get === undefined || except.includes(name)) continue
    const read = (run: unknown): unknown => withOwnFacts(getter.get?.call(run))
    properties[name] = {
      enumerable: true,
      get(this: unknown): unknown {
        return read(this)
      },
    }
  }
  ownProperties.set(prototype, properties)
  Object.defineProperty(prototype, INSPECT, {
    value(this: { toJSON(): unknown }) {
      return this.toJSON()
    },
  })
}

/**
 * Makes the facts of a run own, enumerable properties, and freezes it. They are still read at first access, and so are those of its
 * calls and nested runs. Test libraries, `{ ...run }` and `structuredClone` see only own properties.
 *
 * Everything that gives a run to code of the application calls this. Defining the properties takes longer than most scorers, so it
 * is not done for a run that only prebuilt scorers read. Other values are returned unchanged.
 */
export function withOwnFacts<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) {
    // A list has either only such objects or none, and they are prepared together.
    if (value.length > 0 && isUnprepared(value[0])) for (const item of value) withOwnFacts(item)
    return value
  }
  if (!isUnprepared(value)) return value
  return Object.freeze(Object.defineProperties(value, ownProperties.get(Object.getPrototypeOf(value)) ?? {}))
}

function isUnprepared(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return typeof prototype === 'object' && prototype !== null && ownProperties.has(prototype)
}
