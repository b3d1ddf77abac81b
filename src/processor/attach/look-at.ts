/**
 * Reads something that belongs to the application, such as a provider. It may be anything: a proxy, an object of another library, an object
 * whose getters throw. If reading throws, it counts as absent.
 */
export function lookAt<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}
