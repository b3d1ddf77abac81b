/** How long work goes on before the event loop has its turn, in milliseconds. */
const SLICE_MS = 10

/**
 * Does work in steps, so that the application is not held up. Work of one step is done now; where there are more, they are done in
 * later turns of the event loop, several in each, and the result is a promise.
 */
export function inSlices<Result>(steps: Generator<undefined, Result>): Result | Promise<Result> {
  const first = steps.next()
  return first.done === true ? first.value : restOf(steps)
}

async function restOf<Result>(steps: Generator<undefined, Result>): Promise<Result> {
  for (;;) {
    await new Promise((resolve) => setImmediate(resolve))
    const endMs = performance.now() + SLICE_MS
    do {
      const step = steps.next()
      if (step.done === true) return step.value
    } while (performance.now() < endMs)
  }
}
