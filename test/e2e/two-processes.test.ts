import { createToolCallAccuracyScorerCode } from 'spanscore/scorers/prebuilt'
import { afterEach, expect, it } from 'vitest'

import { startApplication } from './driver.ts'
import { eventually } from '../../scripts/stack.ts'
import { startStack } from './stack.ts'
import type { Stack } from './stack.ts'

let stack: Stack | undefined
afterEach(async () => stack?.close())

it('adds up the runs of two processes of a service without instance ids', async () => {
  const running = (stack = await startStack())
  const scorers = [createToolCallAccuracyScorerCode({ expectedTool: 'weather-tool' })]
  // What NodeSDK's detectors find; it sets no service.instance.id.
  const start = (pid: number) =>
    startApplication(
      'pair',
      running.otlpUrl,
      { scorers },
      {
        'service.instance.id': undefined,
        'host.name': 'a-host',
        'process.pid': pid,
      },
    )
  const [first, second] = [start(101), start(102)]
  // The processes report in turn: in one common series, each value would look like a counter that has been reset.
  for (let turn = 0; turn < 5; turn += 1) {
    for (let run = 0; run < 4; run += 1) first.run({ tools: ['weather-tool'] })
    await first.flush()
    second.run({ tools: ['search-tool'] })
    await second.flush()
  }
  await Promise.all([first.shutdown(), second.shutdown()])
  const sumOf = async (expression: string) => (await running.query(expression)).map(({ value }) => value)
  await eventually('all runs', async () => (await sumOf('sum(spanscore_sum_w_total{job="pair"})'))[0] === 25)
  const samples = await running.query('sum by (instance) (spanscore_sum_w_total{job="pair"})')
  const byInstance = Object.fromEntries(samples.map(({ metric, value }) => [metric['instance'], value]))
  expect(byInstance).toEqual({ 'a-host-101': 20, 'a-host-102': 5 })
})
