import { afterEach, expect, it } from 'vitest'

import { metricsTarget, sendMetrics, toMetricsRequest } from '../../cli/src/canary/canary-metrics.ts'
import { eventually } from '../../scripts/stack.ts'
import { startStack } from './stack.ts'
import type { Stack } from './stack.ts'

let stack: Stack | undefined
afterEach(async () => stack?.close())

it('shows the agreement of a canary pass in Prometheus, under the names that the rules of calibrations use', async () => {
  const running = (stack = await startStack())
  const environment = { OTEL_EXPORTER_OTLP_ENDPOINT: `${running.otlpUrl}/` }
  const target = metricsTarget(environment)
  if (target === undefined) throw new Error('expected a target')
  const judge = { scorer: 'prompt_alignment', version: '1a2b3c4d', judgeModel: 'judge-1' }
  const passes = [{ judge, set: '0a0a0a0a', pass: { runs: 120, agreed: 118 }, fail: { runs: 80, agreed: 71 } }]
  await sendMetrics(toMetricsRequest(passes, Date.now(), environment), target)
  const labels =
    'job="spanscore-canary", gen_ai_evaluation_name="prompt_alignment", spanscore_scorer_version="1a2b3c4d", spanscore_judge_model="judge-1"'
  const expected = {
    [`spanscore_canary_judged{${labels}, spanscore_canary_label="pass"}`]: 120,
    [`spanscore_canary_agreed{${labels}, spanscore_canary_label="pass"}`]: 118,
    [`spanscore_canary_judged{${labels}, spanscore_canary_label="fail"}`]: 80,
    [`spanscore_canary_agreed{${labels}, spanscore_canary_label="fail"}`]: 71,
  }
  await eventually('the gauges', async () => {
    for (const [expression, value] of Object.entries(expected)) {
      const found = await running.query(expression)
      if (found.length !== 1 || found[0]?.value !== value) throw new Error(`${expression}: ${JSON.stringify(found)}`)
    }
    return true
  })
  await expect(sendMetrics({ resourceMetrics: 'none' }, target)).rejects.toThrow(/^400 /)
})
