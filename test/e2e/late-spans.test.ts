import { createScorer, createToolCallAccuracyScorerCode } from 'spanscore/scorers/prebuilt'
import { afterEach, expect, it } from 'vitest'

import { startApplication } from './driver.ts'
import { eventually } from '../../scripts/stack.ts'
import { startStack } from './stack.ts'
import type { Stack } from './stack.ts'

let stack: Stack | undefined
afterEach(async () => stack?.close())

const scorers = [
  createToolCallAccuracyScorerCode({ expectedTool: 'weather-tool' }),
  createScorer({ id: 'hallucination', description: 'Lower is better.', better: 'lower', version: 1 }).generateScore(
    () => 0.25,
  ),
  createScorer({
    id: 'steps',
    description: 'Model calls of the run.',
    range: [0, 10],
    passAt: 1,
    version: 1,
  }).generateScore(({ run }) => run.steps.length),
]

it('makes the metrics of an application without a meter provider from its late spans, under the same names', async () => {
  const running = (stack = await startStack())
  // The calls of a run are one observation, which late spans of calls do not show.
  const ofCalls = createScorer({ id: 'named', description: 'Calls.', level: 'tool-call', version: 1 }).generateScore(
    ({ call }) => Number(call.name === 'weather-tool'),
  )
  const application = startApplication(
    'no-meters',
    running.otlpUrl,
    { scorers: [...scorers, ofCalls], emit: { lateSpans: 'always', metrics: false } },
    { 'spanscore.metrics': 'from-spans' },
  )
  for (let run = 0; run < 20; run++) application.run({ tools: [run % 4 === 0 ? 'search-tool' : 'weather-tool'] })
  await application.shutdown()

  const valueOf = async (expression: string) => (await running.query(expression))[0]?.value
  const of = 'job="no-meters", gen_ai_evaluation_name="tool_call_accuracy"'
  await eventually('the scores', async () => (await valueOf(`spanscore_score_count{${of}}`)) === 20)
  expect(await valueOf(`spanscore_score_sum{${of}}`)).toBe(15)
  const failed = `spanscore_evaluations_total{${of}, gen_ai_evaluation_score_label="fail", spanscore_outcome="scored"}`
  // Other connectors of the Collector make the counts.
  await eventually('the counts', async () => (await valueOf(failed)) === 5)
  await eventually('the sums', async () => (await valueOf(`sum(spanscore_sum_w_total{${of}})`)) === 20)
  expect(await valueOf(`sum(spanscore_sum_w2y2_total{${of}})`)).toBe(15)
  expect(await valueOf(`spanscore_chosen_w_total{${of}, spanscore_outcome="scored"}`)).toBe(20)
  // The position is inverted because lower is better: a quarter becomes three quarters.
  expect(await valueOf('spanscore_score_sum{job="no-meters", gen_ai_evaluation_name="hallucination"}')).toBe(15)
  // Two model calls, of ten in the range, are a fifth of it.
  expect(await valueOf('spanscore_score_sum{job="no-meters", gen_ai_evaluation_name="steps"}')).toBeCloseTo(4)
  expect(await running.spansByTags('no-meters', { 'gen_ai.evaluation.name': 'named' })).toHaveLength(20)
  expect(await running.query('{job="no-meters", gen_ai_evaluation_name="named"}')).toEqual([])
})

it('does not count an application twice that sends metrics and late spans', async () => {
  const running = (stack = await startStack())
  const application = startApplication('both', running.otlpUrl, { scorers, emit: { lateSpans: 'always' } })
  for (let run = 0; run < 10; run++) application.run({ tools: ['weather-tool'] })
  await application.shutdown()
  const of = 'job="both", gen_ai_evaluation_name="tool_call_accuracy"'
  const late = await eventually('the late spans', async () => {
    const spans = await running.spansByTags('both', { 'gen_ai.evaluation.name': 'tool_call_accuracy' })
    return spans.length === 10 && spans
  })
  expect(late.map((span) => span.operationName)).toEqual(
    Array.from({ length: 10 }, () => 'evaluate tool_call_accuracy'),
  )
  const counted = await eventually('the scores', async () => {
    const samples = await running.query(`spanscore_score_count{${of}}`)
    return samples.length > 0 && samples
  })
  expect(counted.map(({ value }) => value)).toEqual([10])
})

it('keeps, with tail sampling, the runs whose scores fail, and errors, and a part of the rest', async () => {
  const running = (stack = await startStack({ overlays: ['otel-collector-tail-sampling.yaml'] }))
  const application = startApplication('sampled', running.otlpUrl, { scorers })
  // One run in twenty calls the wrong tool, and one in twenty has an error.
  for (let run = 0; run < 200; run++) {
    application.run({ tools: [run % 20 === 1 ? 'search-tool' : 'weather-tool'], fails: run % 20 === 2 })
  }
  await application.shutdown()
  const kept = async (tags: Record<string, string>) => (await running.spansByTags('sampled', tags)).length
  // The decision waits for 30 s.
  await eventually(
    'the failing runs',
    async () => (await kept({ 'spanscore.tool_call_accuracy.label': 'fail' })) === 10,
    60_000,
  )
  await eventually('the errors', async () => (await kept({ 'error.type': 'TimeoutError' })) === 10)
  const rest = await kept({ 'spanscore.tool_call_accuracy.label': 'pass', 'spanscore.steps.label': 'pass' })
  expect(rest).toBeGreaterThan(0)
  expect(rest).toBeLessThan(100)
})
