/** The method that `console.log` calls in Node.js. */
export const INSPECT: unique symbol = Symbol.for('nodejs.util.inspect.custom')

/** The getters of classes whose facts are read at first access, by prototype. */
const gettersOf = new WeakMap<object, readonly string[]>()

/**
 * Prepares a class whose getters are facts that are read at first access. Getters are not own properties, so `console.log` would show
 * nothing: this makes it print the JSON form. A declared method is not possible, because declarations cannot express its name.
 */
export function printAsJson(prototype: { toJSON(): unknown }, except: readonly string[] = []): void {
  const getters = Object.entries(Object.getOwnPropertyDescriptors(prototype)).filter(
    ([name, property]) => property.get !== undefined && !except.includes(name),
  )
  const parent: unknown = Object.getPrototypeOf(prototype)
  const inherited = typeof parent === 'object' && parent !== null ? (gettersOf.get(parent) ?? []) : []
  gettersOf.set(prototype, [...inherited, ...getters.map(([name]) => name)])
  Object.defineProperty(prototype, INSPECT, {
    value(this: { toJSON(): unknown }) {
      return this.toJSON()
    },
  })
}

/** The names of all facts of an object of such a class; `undefined` for any other value. */
export function factNamesOf(value: object): readonly string[] | undefined {
  const prototype: unknown = Object.getPrototypeOf(value)
  const getters = typeof prototype === 'object' && prototype !== null ? gettersOf.get(prototype) : undefined
  return getters && [...Object.keys(value), ...getters]
}
