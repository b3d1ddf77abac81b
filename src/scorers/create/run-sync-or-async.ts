import { isThenable } from '../../scoring/thenable.ts'

/**
 * Runs a generator that yields values or promises and is given back what they hold: synchronous as long as nothing that it
 * yields is a promise, so that one way of writing serves both.
 */
export function runSyncOrAsync<Result>(steps: Generator<unknown, Result, unknown>): Result | Promise<Result> {
  let state = steps.next()
  while (state.done !== true) {
    if (isThenable(state.value)) return continueAsync(steps, state.value)
    state = steps.next(state.value)
  }
  return state.value
}

async function continueAsync<Result>(
  steps: Generator<unknown, Result, unknown>,
  first: PromiseLike<unknown>,
): Promise<Result> {
  let state = steps.next(await first)
  while (state.done !== true) state = steps.next(await state.value)
  return state.value
}
