/**
 * Waits for a promise, for so many milliseconds at most. Whether it settled in time; never rejects.
 *
 * @param whoWaits `application`: it awaits this, and its process stays alive for it, although nothing else may be left to do
 *   (a judge that waits after a 429 has an idle connection). `nobody`: the timer keeps no process alive.
 */
export async function settlesWithin(
  promise: Promise<unknown>,
  timeoutMs: number,
  whoWaits: 'application' | 'nobody' = 'nobody',
): Promise<boolean> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const timeout = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), timeoutMs)
    if (whoWaits === 'nobody') timer.unref()
  })
  try {
    return await Promise.race([promise.then(settled, settled), timeout])
  } finally {
    clearTimeout(timer)
  }
}

function settled(): true {
  return true
}
