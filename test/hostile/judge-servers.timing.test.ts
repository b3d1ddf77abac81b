import { expect, it } from 'vitest'

import { byId, evaluate, json, serve } from './judge-server.ts'

const cpuMs = () => process.cpuUsage().user / 1000

it('hundreds of thousands of values holds the event loop for no long turn', async () => {
  const server = await serve(json(`{"choices":[${'{},'.repeat(600_000)}{}]}`))
  await evaluate(byId(server.url))
  let [isDone, longestMs] = [false, 0]
  let last = cpuMs()
  const watch = (): void => {
    longestMs = Math.max(longestMs, cpuMs() - last)
    last = cpuMs()
    if (!isDone) setImmediate(watch)
  }
  watch()
  await evaluate(byId(server.url))
  isDone = true
  // Checking the values by the provider's package takes most of a second.
  expect(longestMs).toBeLessThan(200)
})
