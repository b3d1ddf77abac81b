type Attributes = Readonly<Record<string, unknown>>

const shared = new WeakSet<object>()

/**
 * Freezes the attributes of a resource, so that all spans and runs of a sender can share them. Resources with values that are no
 * texts, numbers, booleans or lists of them are rare, and left as they are.
 */
export function shareResource<Resource extends Attributes>(resource: Resource): Resource {
  for (const key of Object.keys(resource)) {
    if (key === '__proto__' || !isPlain(resource[key])) return resource
  }
  for (const value of Object.values(resource)) Object.freeze(value)
  shared.add(Object.freeze(resource))
  return resource
}

/** Whether a resource is one of these: then nobody can change it, and it needs no copy. */
export function isShared(resource: Attributes): boolean {
  return shared.has(resource)
}

function isPlain(value: unknown): boolean {
  return Array.isArray(value) ? value.every((item) => typeof item !== 'object') : typeof value !== 'object'
}
