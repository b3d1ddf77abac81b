import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { createOtlpReceiver } from '../../src/testing/otlp-receiver.ts'

async function run(how: 'end' | 'flush' | 'shutdown of a large run' | 'SIGTERM' | 'SIGTERM in the middle' | 'SIGKILL') {
  const receiver = await createOtlpReceiver()
  const app = spawn(process.execPath, [join(import.meta.dirname, 'exiting-app.ts'), receiver.url, how], {
    stdio: 'inherit',
  })
  const [code, signal] = await once(app, 'exit')
  await receiver.close()
  return { code, signal, spans: receiver.spans }
}

test('a process that ends passes all spans on, even if a judge never answers and nobody calls shutdown', async () => {
  const { code, spans } = await run('end')
  expect(code).toBe(0)
  expect(spans.map(({ name }) => name)).toEqual(['invoke_agent a'])
})

test('a script that awaits a flush stays alive until a judge that waits by the clock has answered', async () => {
  const { code, spans } = await run('flush')
  expect(code).toBe(0)
  expect(spans.map(({ attributes }) => attributes['spanscore.fitting.score'])).toEqual([1])
})

test('a process that exits right after it has awaited a shutdown has exported the score of a run that takes long to read', async () => {
  const { code, spans } = await run('shutdown of a large run')
  expect(code).toBe(0)
  expect(spans).toHaveLength(41)
  const agent = spans.find(({ name }) => name === 'invoke_agent a')
  expect(agent?.attributes['spanscore.fitting.score']).toBe(1)
})

test('SIGTERM in the middle loses nothing that had been scored', async () => {
  const { code, spans } = await run('SIGTERM')
  expect(code).toBe(0)
  expect(spans.map(({ attributes }) => attributes['spanscore.fitting.score'])).toEqual([1])
})

test('SIGTERM during a judge call waits for its score if the handler flushes first', async () => {
  const { code, spans } = await run('SIGTERM in the middle')
  expect(code).toBe(0)
  expect(spans.map(({ attributes }) => attributes['spanscore.fitting.score'])).toEqual([1])
})

test('a killed process leaves complete scores that were flushed, and no half of a run', async () => {
  const { signal, spans } = await run('SIGKILL')
  expect(signal).toBe('SIGKILL')
  expect(spans.map(({ name, attributes }) => [name, attributes['spanscore.fitting.score']])).toEqual([
    ['invoke_agent a', 1],
  ])
})
