/** Longest delay that Node's timers take. */
const LONGEST_DELAY_MS = 2 ** 31 - 1

/**
 * Keeps the process alive until the work is done. All our own timers let the process end, as they must in an application; a
 * script that awaits one score would end in the middle of a judge's wait, without a word.
 */
export async function keepProcessAlive<T>(work: () => Promise<T>): Promise<T> {
  const handle = setInterval(() => {}, LONGEST_DELAY_MS)
  try {
    return await work()
  } finally {
    clearInterval(handle)
  }
}
