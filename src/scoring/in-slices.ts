import { EventLoopTurns, TURN_SLICE_MS } from './event-loop-turns.ts'

/** Shared by all sliced work of this process, because the work of several scorers in one turn of the event loop adds up. */
const turns = new EventLoopTurns(() => performance.now())

/**
 * Does work in steps, so that it does not block the application. Work of a single step is done synchronously. Further steps run in
 * later turns of the event loop, several in each turn, and the result is then a promise.
 */
export function inSlices<Result>(steps: Generator<undefined, Result>): Result | Promise<Result> {
  const first = steps.next()
  return first.done === true ? first.value : restOf(steps)
}

/** Does something with each item, in steps. */
export function* eachInSteps<Item>(items: Iterable<Item>, act: (item: Item) => void): Generator<undefined, void> {
  for (const item of items) {
    act(item)
    yield
  }
}

/** Does all steps synchronously. */
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
