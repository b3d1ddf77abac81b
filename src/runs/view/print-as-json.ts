/** How Node.js asks an object for what `console.log` shows of it. */
const INSPECT = Symbol.for('nodejs.util.inspect.custom')

/**
 * Facts that are read when they are asked for are no properties of the object, and `console.log` would show none: it shows what JSON holds.
 * A method would need a name that declarations cannot write.
 */
export function printAsJson(prototype: { toJSON(): unknown }): void {
  Object.defineProperty(prototype, INSPECT, {
    value(this: { toJSON(): unknown }) {
      return this.toJSON()
    },
  })
}
