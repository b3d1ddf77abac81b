import {
  clearTimeout as clearTimeoutOfNode,
  setImmediate as setImmediateOfNode,
  setTimeout as setTimeoutOfNode,
} from 'node:timers'

/** A timer that was started. */
export type Timer = ReturnType<typeof setTimeout>

/**
 * Calls back once, in a later turn of the event loop. The host may have replaced `setImmediate` with one that throws. In that case
 * Node's own is used. If that throws too, `run` is called after the current work, because its callers must not wait forever.
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
      setImmediateOfNode(once)
    } catch {
      queueMicrotask(once)
    }
  }
}

/** Calls back after `ms` milliseconds. If the host's replacement of `setTimeout` throws, Node's own timer is used. */
export function startTimer(run: () => void, ms: number): Timer {
  try {
    return setTimeout(run, ms)
  } catch {
    return setTimeoutOfNode(run, ms)
  }
}

/** Cancels a timer, however it was started. Never throws. */
export function stopTimer(timer: Timer | undefined): void {
  try {
    clearTimeout(timer)
  } catch {
    clearTimeoutOfNode(timer)
  }
}
