import { detached } from './isolation.ts'
import { unref } from './keep-process-alive.ts'

/** Cancels a timer. It has no effect once the time is over. */
export type Cancel = () => void

/** The longest delay of a Node.js timer. */
const MAX_DELAY_MS = 2 ** 31 - 1

/** Calls back once after that many milliseconds. The timer keeps neither the process nor the async context of a request alive. */
export function after(ms: number, run: () => void): Cancel {
  const timer = detached(() => unref(setTimeout(run, Math.min(Math.max(0, ms), MAX_DELAY_MS))))
  return () => clearTimeout(timer)
}
