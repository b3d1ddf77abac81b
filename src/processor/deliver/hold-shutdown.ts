import { lookAt } from '../attach/look-at.ts'

/** What every object's `shutdown` waits for, as long as anything. */
const held = new WeakMap<object, Set<Promise<void>>>()

/**
 * Lets the `shutdown` of a provider or processor of the application wait until our own shutdown is over. `NodeSDK.shutdown()` calls that of
 * all providers in one turn, the tracer provider's first. Scores of judges and large runs come later, and their events would be lost.
 *
 * Until then, the object has a `shutdown` of its own. An object that cannot be changed, or that was shut down before, is left as it is.
 *
 * @param over must not reject, and must resolve in limited time
 */
export function holdShutdown(target: object, over: Promise<void>): void {
  const waits = held.get(target)
  if (waits !== undefined) {
    waits.add(over)
    void over.then(() => waits.delete(over))
    return
  }
  lookAt(() => {
    const shutdown: unknown = Reflect.get(target, 'shutdown')
    if (typeof shutdown !== 'function') return
    const before = Object.getOwnPropertyDescriptor(target, 'shutdown')
    const until = new Set([over])
    const whenOver = async (): Promise<void> => {
      while (until.size > 0) await Promise.all(until)
    }
    const shutdownLater = async (...args: unknown[]): Promise<unknown> => {
      await whenOver()
      return Reflect.apply(shutdown, target, args)
    }
    Object.defineProperty(target, 'shutdown', { value: shutdownLater, configurable: true, writable: true })
    held.set(target, until)
    void over.then(() => until.delete(over))
    void whenOver().then(() => {
      held.delete(target)
      lookAt(() => {
        if (Object.getOwnPropertyDescriptor(target, 'shutdown')?.value !== shutdownLater) return
        if (before === undefined) Reflect.deleteProperty(target, 'shutdown')
        else Object.defineProperty(target, 'shutdown', before)
      })
    })
  })
}
