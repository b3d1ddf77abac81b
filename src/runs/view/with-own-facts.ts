import { factNamesOf, INSPECT } from './print-as-json.ts'

/**
 * The run as a frozen object whose facts are own, enumerable properties. They are still read at first access, as are those of its calls
 * and nested runs. Test libraries, `{ ...run }` and `structuredClone` see only own properties.
 *
 * Defining them takes several microseconds, so a scorer in a running application gets facts that are not its own. Values without such
 * facts are returned unchanged.
 *
 * @param watch called with each object that has facts, and their names; what it returns is called before each read, with the place of the name
 */
export function withOwnFacts<T>(value: T, watch?: WatchReads): T
export function withOwnFacts(value: unknown, watch: WatchReads = watchNothing): unknown {
  if (Array.isArray(value))
    return hasLazyFacts(value[0]) ? Object.freeze(value.map((item) => withOwnFacts(item, watch))) : value
  if (!hasLazyFacts(value)) return value
  const asJson = { value: (): unknown => value.toJSON() }
  const facts: PropertyDescriptorMap = { toJSON: asJson, [INSPECT]: asJson }
  const names = factNamesOf(value) ?? []
  const beforeRead = watch(value, names)
  for (const [place, name] of names.entries()) {
    const get = once(() => withOwnFacts<unknown>(Reflect.get(value, name), watch))
    facts[name] = {
      enumerable: true,
      get: () => {
        beforeRead(place)
        return get()
      },
    }
  }
  return Object.freeze(Object.defineProperties({}, facts))
}

/** Watches the reads of an object with these facts. */
export type WatchReads = (value: object, facts: readonly string[]) => (place: number) => void

const watchNothing: WatchReads = () => () => undefined

function hasLazyFacts(value: unknown): value is { toJSON(): unknown } {
  return typeof value === 'object' && value !== null && factNamesOf(value) !== undefined
}

function once(read: () => unknown): () => unknown {
  let known: { readonly value: unknown } | undefined
  return () => (known ??= { value: read() }).value
}
