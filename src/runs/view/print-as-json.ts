/** The method that `console.log` calls in Node.js. */
const INSPECT = Symbol.for('nodejs.util.inspect.custom')

/**
 * Lazily read facts are not own properties, so `console.log` would show nothing. This makes it print the JSON form. A declared method is
 * not possible, because declarations cannot express its name.
 */
export function printAsJson(prototype: { toJSON(): unknown }): void {
  Object.defineProperty(prototype, INSPECT, {
    value(this: { toJSON(): unknown }) {
      return this.toJSON()
    },
  })
}
