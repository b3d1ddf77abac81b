/** Simulates the series that it is sent, in a thread of its own. */
import { parentPort } from 'node:worker_threads'

import { simulateSeries } from './series.ts'
import type { Task } from './series.ts'

parentPort?.on('message', (tasks: readonly Task[]) => {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, which has no origin
  parentPort?.postMessage(tasks.map((task) => simulateSeries(task)))
})
