/** Waits for a promise, for so many milliseconds at most. Whether it settled in time; never rejects. The timer keeps no process alive. */
export async function settlesWithin(promise: Promise<unknown>, timeoutMs: number): Promise<boolean> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const timeout = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), timeoutMs)
    timer.unref()
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
