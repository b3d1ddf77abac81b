import { ROOT_CONTEXT, SpanStatusCode, trace } from '@opentelemetry/api'
import { expect, test, vi } from 'vitest'

import { attachScoring } from '../../src/processor/attach/attach.ts'
import { createToolErrorsScorer } from '../../src/scorers/code/tool-errors.ts'
import { createPipeline } from './harness.ts'
import type { Pipeline } from './harness.ts'

const json = (value: unknown): string => JSON.stringify(value)

/** A run with one tool call by the GenAI conventions. */
function run(
  { tracer }: Pipeline,
  { language, error, prompt = 'Help customers.' }: { language: string; error?: string; prompt?: string },
): string {
  const agent = tracer.startSpan('invoke_agent support', {
    attributes: {
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.agent.name': 'support',
      'app.language': language,
      'gen_ai.system_instructions': json([{ type: 'text', content: prompt }]),
      'gen_ai.input.messages': json([{ role: 'user', parts: [{ type: 'text', content: 'a secret question' }] }]),
    },
  })
  const parent = trace.setSpan(ROOT_CONTEXT, agent)
  const tool = tracer.startSpan(
    'execute_tool track',
    {
      attributes: { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': 'track', 'gen_ai.tool.call.id': 'c1' },
    },
    parent,
  )
  if (error !== undefined) {
    tool.setStatus({ code: SpanStatusCode.ERROR, message: 'a secret text of the error' })
    tool.setAttribute('error.type', error)
  }
  tool.end()
  agent.end()
  return agent.spanContext().traceId
}

const seriesOf = (pipeline: Pipeline, name: string): readonly Readonly<Record<string, string>>[] =>
  pipeline.receiver.metrics
    .filter((metric) => metric.name === name)
    .map(({ attributes, value }) => ({
      ...Object.fromEntries(Object.entries(attributes).map(([key, each]) => [key, String(each)])),
      value: String(value),
    }))

test('metrics count the traits of passing and failing runs, by label', async () => {
  const pipeline = await createPipeline({ processors: (batch) => [batch] })
  const scoring = attachScoring({ scorers: [createToolErrorsScorer()], metricAttributes: ['app.language'] })
  run(pipeline, { language: 'en' })
  run(pipeline, { language: 'en' })
  const failing = [
    run(pipeline, { language: 'de', error: 'HttpError' }),
    run(pipeline, { language: 'de', error: 'HttpError' }),
  ]
  await scoring.forceFlush()
  await pipeline.flush()
  const sums = new Map(
    seriesOf(pipeline, 'spanscore.traits').map((series) => [
      `${series['spanscore.trait']} = ${series['spanscore.trait.value']}, ${series['gen_ai.evaluation.score.label']}`,
      series.value,
    ]),
  )
  expect(Object.fromEntries(sums)).toMatchObject({
    'app.language = de, fail': '2',
    'app.language = de, pass': '0',
    'app.language = en, pass': '2',
    'failed tool = track, fail': '2',
    'tool error = track: HttpError, fail': '2',
  })
  expect([...sums.keys()].filter((key) => key.startsWith('status = '))).not.toEqual([])
  expect([...sums.keys()].filter((key) => key.startsWith('prompt = '))).toHaveLength(2)
  const examples = seriesOf(pipeline, 'spanscore.example').map((series) => series['spanscore.trace_id'])
  expect(new Set(examples)).toEqual(new Set(failing))
  expect(seriesOf(pipeline, 'spanscore.agent.info')[0]).toMatchObject({
    'gen_ai.agent.name': 'support',
    'spanscore.agent.prompt': expect.stringMatching(/^[0-9a-f]{8}$/),
    value: '1',
  })
  expect(seriesOf(pipeline, 'spanscore.scorer.info')[0]).toMatchObject({
    'gen_ai.evaluation.name': 'tool_errors',
    'spanscore.score.better': 'lower',
    'spanscore.scorer.description': expect.stringMatching(/^[A-Z]/),
  })
  expect(json(pipeline.receiver.metrics)).not.toContain('secret')
})

test('A prompt that differs from run to run is no change of the agent, and is shown no more', async () => {
  const pipeline = await createPipeline({ processors: (batch) => [batch] })
  const scoring = attachScoring({ scorers: [createToolErrorsScorer()] })
  const startMs = Date.now()
  const clock = vi.spyOn(Date, 'now')
  for (let index = 0; index < 6; index += 1) {
    clock.mockReturnValue(startMs + index * 1000)
    run(pipeline, { language: 'de', prompt: `Answer from these documents only: ${index}` })
  }
  clock.mockRestore()
  await scoring.forceFlush()
  await pipeline.flush()
  const shown = new Set(seriesOf(pipeline, 'spanscore.agent.info').map(json))
  expect(shown).toEqual(new Set([json({ 'gen_ai.agent.name': 'support', value: '1' })]))
})

test('emit.traits: false leaves them out', async () => {
  const pipeline = await createPipeline({ processors: (batch) => [batch] })
  const scoring = attachScoring({ scorers: [createToolErrorsScorer()], emit: { traits: false } })
  run(pipeline, { language: 'de', error: 'HttpError' })
  await scoring.forceFlush()
  await pipeline.flush()
  expect(seriesOf(pipeline, 'spanscore.sum.w')).not.toEqual([])
  for (const name of ['spanscore.traits', 'spanscore.example', 'spanscore.agent.info']) {
    expect(seriesOf(pipeline, name)).toEqual([])
  }
})

test('a scorer keeps 64 traits apart, and those that come again have places of their own', async () => {
  const pipeline = await createPipeline({ processors: (batch) => [batch] })
  const scoring = attachScoring({ scorers: [createToolErrorsScorer()], metricAttributes: ['app.language'] })
  const errors = [...Array.from({ length: 5 }, (_, index) => `Error${index}`), ...Array<string>(5).fill('HttpError')]
  // No more than ten in a second.
  const startMs = Date.now()
  const clock = vi.spyOn(Date, 'now')
  for (let index = 0; index < 90; index += 1) {
    clock.mockReturnValue(startMs + index * 100)
    const error = errors[index - 80]
    run(pipeline, error === undefined ? { language: `made up ${index}` } : { language: 'de', error })
  }
  clock.mockRestore()
  await scoring.forceFlush()
  await pipeline.flush()
  const traits = new Set(
    seriesOf(pipeline, 'spanscore.traits').map(
      (series) => `${series['spanscore.trait']} = ${series['spanscore.trait.value']}`,
    ),
  )
  expect(traits.size).toBeLessThanOrEqual(64 + 8)
  expect(traits).toContain('tool error = track: HttpError')
  expect(traits).toContain('app.language = other')
})

test('ten runs of a scorer and agent are counted in a second, so that a busy process does not pay for all', async () => {
  const pipeline = await createPipeline({ processors: (batch) => [batch] })
  const scoring = attachScoring({ scorers: [createToolErrorsScorer()] })
  const clock = vi.spyOn(Date, 'now')
  const startMs = Math.ceil(Date.now() / 1000) * 1000
  for (const second of [0, 1]) {
    clock.mockReturnValue(startMs + second * 1000)
    for (let index = 0; index < 30; index += 1) run(pipeline, { language: 'de' })
  }
  clock.mockRestore()
  await scoring.forceFlush()
  await pipeline.flush()
  const counted = seriesOf(pipeline, 'spanscore.traits').filter((series) => series['spanscore.trait'] === 'status')
  expect(counted.map(({ value }) => Number(value)).toSorted((one, other) => other - one)[0]).toBe(20)
})

test('where single runs alert, the latest failing ones are shown at once, with the tool, even without traits', async () => {
  const pipeline = await createPipeline({ processors: (batch) => [batch] })
  const scoring = attachScoring({
    scorers: [{ scorer: createToolErrorsScorer(), alerts: { any: 'page' } }],
    emit: { traits: false },
  })
  const failing = Array.from({ length: 3 }, () => run(pipeline, { language: 'de', error: 'HttpError' }))
  await scoring.forceFlush()
  await pipeline.flush()
  // Each flush collects the gauge: the last two values are those of the latest.
  const examples = () => seriesOf(pipeline, 'spanscore.example').map((series) => series['spanscore.trace_id'])
  expect(examples().slice(-2)).toEqual(failing.slice(1))
  expect(seriesOf(pipeline, 'spanscore.example')[0]).toMatchObject({ 'gen_ai.tool.name': 'track' })
  expect(seriesOf(pipeline, 'spanscore.alert.setting')).toContainEqual(
    expect.objectContaining({ 'spanscore.setting': 'any_severity', value: '2' }),
  )
  const latest = run(pipeline, { language: 'de', error: 'HttpError' })
  await scoring.forceFlush()
  await pipeline.flush()
  expect(seriesOf(pipeline, 'spanscore.example').map((series) => series['spanscore.trace_id'])).toContain(latest)
})
