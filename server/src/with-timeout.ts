/** Waits for some work, but at most that many milliseconds. Later errors of the work are ignored. */
export async function withTimeout(timeoutMs: number, work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const over = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, timeoutMs)
  })
  await Promise.race([work, over]).finally(() => clearTimeout(timer))
}
