/** How Node.js asks an object for what `console.log` shows of it. */
const INSPECT = Symbol.for('nodejs.util.inspect.custom')

/** Facts that are read when they are asked for stand on no object, and `console.log` would show none: it shows what JSON holds. */
export function printAsJson(type: { readonly prototype: { toJSON(): unknown } }): void {
  Object.defineProperty(type.prototype, INSPECT, {
    value(this: { toJSON(): unknown }) {
      return this.toJSON()
    },
  })
}
