/** Longest delay that Node's timers accept. */
const LONGEST_DELAY_MS = 2 ** 31 - 1

/**
 * Keeps the process alive until the work is done. The timers of spanscore let the process exit, as they must in an application.
 * Without this, a script that awaits one score would exit without a message while a judge waits.
 */
export async function keepProcessAlive<T>(work: () => Promise<T>): Promise<T> {
  const handle = setInterval(() => {}, LONGEST_DELAY_MS)
  try {
    return await work()
  } finally {
    clearInterval(handle)
  }
}

/** Lets the process exit while a timer waits. Timers of browsers and fake timers of tests may be numbers, which have no `unref`. */
export function unref<T>(timer: T): T {
  if (typeof timer === 'object' && timer !== null && 'unref' in timer && typeof timer.unref === 'function')
    timer.unref()
  return timer
}
