import { EventLoopTurns, TURN_SLICE_MS } from './event-loop-turns.ts'

/** Shared by all work of this process that is done in slices: what several scorers do in one turn of the event loop adds up. */
const turns = new EventLoopTurns(() => performance.now())

/**
 * Does work in steps, so that the application is not held up. Work of one step is done now; where there are more, they are done in
 * later turns of the event loop, several in each, and the result is a promise.
 */
export function inSlices<Result>(steps: Generator<undefined, Result>): Result | Promise<Result> {
  const first = steps.next()
  return first.done === true ? first.value : restOf(steps)
}

/** Does work in steps now, without a pause. */
export function withoutPause<Result>(steps: Generator<undefined, Result>): Result {
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
  }
}

async function restOf<Result>(steps: Generator<undefined, Result>): Promise<Result> {
  for (;;) {
    await turns.next()
    const endMs = performance.now() + TURN_SLICE_MS
    do {
      const step = steps.next()
      if (step.done === true) return step.value
    } while (performance.now() < endMs)
  }
}
