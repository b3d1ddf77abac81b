import { setImmediate as immediateOfNode } from 'node:timers'

/**
 * Calls back once, in a later turn of the event loop. The host may have replaced `setImmediate` by one that throws: then Node's own is
 * taken, and where that throws too, `run` is called when the current work is done, because what waits for it must not wait for ever.
 */
export function inNextTurn(run: () => void): void {
  let hasRun = false
  const once = (): void => {
    if (hasRun) return
    hasRun = true
    run()
  }
  try {
    setImmediate(once)
  } catch {
    try {
      immediateOfNode(once)
    } catch {
      queueMicrotask(once)
    }
  }
}
