import { MAX_NAME_LENGTH, shortened } from '../attributes/explanation-rules.ts'

type Attributes = Readonly<Record<string, unknown>>

/** Characters of names and values that are kept of a resource. */
const MAX_CHARACTERS = 4096

const bounded = new WeakMap<Attributes, Attributes>()

/**
 * The attributes of a resource that scores and conversations keep: short ones, those of the service first. A long value is left out, except the
 * service's name, which is shortened: without it, nobody knows whose the score is.
 */
export function boundedResource(resource: Attributes): Attributes {
  const known = bounded.get(resource)
  if (known !== undefined) return known
  const kept: Record<string, unknown> = {}
  let left = MAX_CHARACTERS
  const names = Object.keys(resource)
  for (const name of [...names.filter(isOfService), ...names.filter((each) => !isOfService(each))]) {
    const given = resource[name]
    const value = name === 'service.name' && typeof given === 'string' ? shortened(given, MAX_NAME_LENGTH) : given
    const characters = name.length + charactersOf(value)
    if (characters > left || name === '__proto__') continue
    left -= characters
    kept[name] = value
  }
  const result =
    Object.keys(kept).length === names.length && kept['service.name'] === resource['service.name']
      ? resource
      : Object.freeze(kept)
  bounded.set(resource, result)
  bounded.set(result, result)
  return result
}

function isOfService(name: string): boolean {
  return name.startsWith('service.')
}

/** Long values count as infinite, so that they are left out whatever else there is. */
function charactersOf(value: unknown): number {
  if (typeof value === 'string') return value.length > MAX_CHARACTERS / 2 ? Number.POSITIVE_INFINITY : value.length
  if (Array.isArray(value)) return value.reduce<number>((sum, item) => sum + charactersOf(item) + 1, 0)
  return typeof value === 'object' && value !== null ? Number.POSITIVE_INFINITY : 8
}
