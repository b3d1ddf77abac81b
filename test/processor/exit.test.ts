import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { createOtlpReceiver } from '../../src/testing/otlp-receiver.ts'

async function run(how: 'end' | 'SIGTERM') {
  const receiver = await createOtlpReceiver()
  const app = spawn(process.execPath, [join(import.meta.dirname, 'exiting-app.ts'), receiver.url, how], {
    stdio: 'inherit',
  })
  const [code] = await once(app, 'exit')
  await receiver.close()
  return { code, spans: receiver.spans }
}

test('a process that comes to its end keeps no span back, though a judge never answers and nobody calls shutdown', async () => {
  const { code, spans } = await run('end')
  expect(code).toBe(0)
  expect(spans.map(({ name }) => name)).toEqual(['invoke_agent a'])
})

test('SIGTERM in the middle loses nothing that had been scored', async () => {
  const { code, spans } = await run('SIGTERM')
  expect(code).toBe(0)
  expect(spans.map(({ attributes }) => attributes['spanscore.fitting.score'])).toEqual([1])
})
