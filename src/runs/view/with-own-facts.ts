import { factNamesOf, INSPECT } from './print-as-json.ts'

/**
 * The run as a frozen object whose facts are own, enumerable properties. They are still read at first access, as are those of its calls
 * and nested runs. Test libraries, `{ ...run }` and `structuredClone` see only own properties.
 *
 * Defining them takes several microseconds, so a scorer in a running application gets the run itself. Values without such facts are
 * returned unchanged.
 */
export function withOwnFacts<T>(value: T): T
export function withOwnFacts(value: unknown): unknown {
  if (Array.isArray(value))
    return hasLazyFacts(value[0]) ? Object.freeze(value.map((item) => withOwnFacts(item))) : value
  if (!hasLazyFacts(value)) return value
  const asJson = { value: (): unknown => value.toJSON() }
  const facts: PropertyDescriptorMap = { toJSON: asJson, [INSPECT]: asJson }
  for (const name of factNamesOf(value) ?? []) facts[name] = readOnce(() => withOwnFacts(Reflect.get(value, name)))
  return Object.freeze(Object.defineProperties({}, facts))
}

function hasLazyFacts(value: unknown): value is { toJSON(): unknown } {
  return typeof value === 'object' && value !== null && factNamesOf(value) !== undefined
}

function readOnce(read: () => unknown): PropertyDescriptor {
  let known: { readonly value: unknown } | undefined
  return { enumerable: true, get: () => (known ??= { value: read() }).value }
}
