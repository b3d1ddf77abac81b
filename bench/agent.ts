import { fork } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'

import { median } from './median.ts'
import type { Row } from './row.ts'

export const RUNS_PER_BLOCK = 50
/** Rounds that are played before any is counted. */
const WARM_UP = 6

/** The CPU time that spanscore adds to one run of a real agent, which asks its model over HTTP and exports spans, events and metrics. */
export async function agentCosts(rounds: number): Promise<Row[]> {
  const [without = [], scored = []] = await agentBlocks([undefined, '.'], rounds * 2)
  return [
    {
      title: 'a real agent over HTTP with two tools, batches of spans, events and metrics: added to a run',
      baseline: `${median(without).toFixed(0)} µs`,
      measured: `${median(scored).toFixed(0)} µs`,
      value: addedUs(without, scored) / 1000,
      unit: 'ms',
      atMost: 1.2,
    },
  ]
}

/** The median of what a block of one side took longer than the block of the other side in the same round. */
export function addedUs(baseline: readonly number[], measured: readonly number[]): number {
  return median(measured.map((cost, round) => cost - (baseline[round] ?? Number.NaN)))
}

/**
 * Runs the agent in blocks, one block of each side in each round, each side in a process of its own.
 *
 * @param builds the folder of the build that each side scores with; `undefined` for none
 * @param warmUp rounds that are played before any is counted
 * @returns for each side, the microseconds of processor time of a run in each round
 */
export async function agentBlocks(
  builds: readonly (string | undefined)[],
  rounds: number,
  warmUp = WARM_UP,
): Promise<number[][]> {
  const farEnd = fork(join(import.meta.dirname, 'agent-far-end.ts'))
  const sides: ChildProcess[] = []
  try {
    const [{ model, collector }]: [{ model: string; collector: string }] = await answerOf(farEnd)
    for (const build of builds) {
      const side = fork(join(import.meta.dirname, 'agent-side.ts'), [
        model,
        collector,
        ...(build === undefined ? [] : [build]),
      ])
      await answerOf(side)
      sides.push(side)
    }
    const costs: number[][] = sides.map(() => [])
    for (let round = -warmUp; round < rounds; round += 1) {
      // The side that begins changes from round to round.
      for (let turn = 0; turn < sides.length; turn += 1) {
        const at = (turn + round + warmUp) % sides.length
        const side = sides[at]
        side?.send(RUNS_PER_BLOCK)
        const [us]: [number] = await answerOf(side)
        if (round >= 0) costs[at]?.push(us)
      }
    }
    return costs
  } finally {
    for (const process of [...sides, farEnd]) process.disconnect()
  }
}

/** The next message of a process. */
async function answerOf<T extends [unknown]>(child: ChildProcess | undefined): Promise<T> {
  const controller = new AbortController()
  try {
    const ended = once(child!, 'exit', { signal: controller.signal }).then(([code]): never => {
      throw new Error(`expected an answer of ${child?.spawnargs[1]}, but it ended with ${code}`)
    })
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- both ends are in this folder
    return (await Promise.race([once(child!, 'message', { signal: controller.signal }), ended])) as T
  } finally {
    controller.abort()
  }
}
