import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises'

/**
 * The maximum number of runs that are played in one turn of the event loop: overdue runs are played in several turns. On a slow machine, ten of
 * them take 20 ms, most of it for exporting their spans.
 */
const MOST_PER_TURN = 4

/** The settings of a load. */
export interface Load {
  readonly play: () => void
  readonly runsPerSecond: number
  readonly seconds: number
  /** Called about every two seconds, between two turns. */
  readonly everyTwoSeconds?: (elapsedSeconds: number) => void
}

/** Plays runs at an even rate, and returns how many. A machine that cannot keep up plays fewer. */
export async function playLoad({ play, runsPerSecond, seconds, everyTwoSeconds }: Load): Promise<number> {
  const beginMs = performance.now()
  let runs = 0
  let samples = 0
  for (;;) {
    const elapsed = (performance.now() - beginMs) / 1000
    if (elapsed >= seconds) return runs
    if (elapsed >= samples * 2) {
      samples += 1
      everyTwoSeconds?.(elapsed)
    }
    const due = Math.floor(elapsed * runsPerSecond) - runs
    for (let n = 0; n < Math.min(due, MOST_PER_TURN); n += 1) play()
    runs += Math.max(0, Math.min(due, MOST_PER_TURN))
    await (due > MOST_PER_TURN ? nextTurn() : wait(1))
  }
}
