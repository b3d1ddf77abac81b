import type { CallError } from './call-error.ts'

const FIRST_BACKOFF_MS = 500

/**
 * Whether a call of a judge that failed is made again, and after how many milliseconds; `undefined` if another call would fail
 * as well. `toCallError` decides which errors a retry can cure, and `JudgeSession` how many calls there are.
 *
 * @param attempt How many calls failed before this one.
 */
export function retryAfterMs(error: CallError, attempt: number): number | undefined {
  if (!error.retryable && error.drop === undefined) return undefined
  // A call without the setting that was refused is another call; where there is a rate limit, the endpoint makes it wait.
  if (error.drop !== undefined || error.rateLimited) return 0
  return error.waitMs ?? FIRST_BACKOFF_MS * 2 ** attempt
}
