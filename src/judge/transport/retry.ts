import type { CallError } from './call-error.ts'

const FIRST_BACKOFF_MS = 500

/**
 * Milliseconds until a failed call is retried; `undefined` if a retry would fail too. `toCallError` decides which errors a retry can fix,
 * and `JudgeSession` how many calls there are.
 *
 * @param attempt the number of calls that failed before this one
 */
export function retryAfterMs(error: CallError, attempt: number): number | undefined {
  if (!error.retryable && error.drop === undefined) return undefined
  // Without the refused setting it is a different call. After a rate limit, the endpoint makes the call wait.
  if (error.drop !== undefined || error.rateLimited) return 0
  return error.waitMs ?? FIRST_BACKOFF_MS * 2 ** attempt
}
