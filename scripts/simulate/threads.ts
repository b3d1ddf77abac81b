import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'

import type { Outcome, Task } from './series.ts'

/** Number of series that a thread receives together. */
const BATCH = 5

/** Simulates series in as many threads as there are processors; gives their outcomes in the order of the tasks. */
export async function simulateAll(tasks: readonly Task[]): Promise<Outcome[]> {
  const outcomes: Outcome[] = []
  let next = 0
  const thread = async () => {
    const worker = new Worker(new URL('./worker.ts', import.meta.url))
    try {
      while (next < tasks.length) {
        const from = next
        next += BATCH
        const done = await ask(worker, tasks.slice(from, from + BATCH))
        for (const [index, outcome] of done.entries()) outcomes[from + index] = outcome
      }
    } finally {
      await worker.terminate()
    }
  }
  await Promise.all(Array.from({ length: availableParallelism() }, thread))
  return outcomes
}

function ask(worker: Worker, tasks: readonly Task[]): Promise<readonly Outcome[]> {
  return new Promise((resolve, reject) => {
    worker.once('error', reject)
    worker.once('message', (outcomes: readonly Outcome[]) => {
      worker.off('error', reject)
      resolve(outcomes)
    })
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, which has no origin
    worker.postMessage(tasks)
  })
}
