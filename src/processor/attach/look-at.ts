/**
 * Looks at something that belongs to the application, such as a provider, and may be anything: a proxy, an object of another make, one
 * whose getters throw. What cannot be looked at is not there.
 */
export function lookAt<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}
