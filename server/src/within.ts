/** Waits for some work, and no longer than a time in milliseconds. What the work throws after that is nobody's. */
export async function within(timeoutMs: number, work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const over = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, timeoutMs)
  })
  await Promise.race([work, over]).finally(() => clearTimeout(timer))
}
