import { setTimeout as delay } from 'node:timers/promises'

import { createToolCallAccuracyScorerCode } from 'spanscore/scorers/prebuilt'
import { afterEach, expect, it } from 'vitest'

import { startApplication } from './driver.ts'
import { eventually } from '../../scripts/stack.ts'
import { startStack } from './stack.ts'
import type { Stack } from './stack.ts'

let stack: Stack | undefined
afterEach(async () => stack?.close())

it('loses nothing when backends are unavailable and the Collector is killed and restarted', async () => {
  const running = (stack = await startStack())
  const application = startApplication('restarted', running.otlpUrl, {
    scorers: [createToolCallAccuracyScorerCode({ expectedTool: 'weather-tool' })],
  })
  let sent = 0
  const send = async (seconds: number) => {
    for (let tick = 0; tick < seconds * 10; tick++) {
      application.run({ tools: [sent++ % 4 === 0 ? 'search-tool' : 'weather-tool'] })
      await delay(100)
    }
  }
  await send(2)
  // The backends are stopped: what the Collector accepts now stays in its queue on disk.
  await Promise.all([running.stop('jaeger'), running.stop('prometheus')])
  await send(3)
  await application.flush()
  // The Collector is killed without a chance to clean up: what it has acknowledged must be on disk.
  await running.stop('otelcol', 'SIGKILL')
  const sending = send(4)
  await delay(1500)
  await running.start('otelcol')
  await Promise.all([running.start('jaeger'), running.start('prometheus')])
  await sending
  await send(1)
  await application.shutdown()

  expect(sent).toBe(100)
  await eventually('all events', async () => running.events().length === sent, 60_000)
  await eventually(
    'all counted',
    async () => {
      const [counted] = await running.query('sum(spanscore_score_count{job="restarted"})')
      if (counted?.value !== sent) throw new Error(`${counted?.value} of ${sent} scores`)
      return true
    },
    60_000,
  )
  // Jaeger keeps its traces in memory, so those from before it was stopped are lost.
  const kept = sent - 20
  await eventually(
    'the traces',
    async () => {
      const spans = await running.spansByTags('restarted', { 'gen_ai.operation.name': 'invoke_agent' })
      if (spans.length < kept) throw new Error(`${spans.length} of ${kept} agent spans`)
      return true
    },
    60_000,
  )
})
