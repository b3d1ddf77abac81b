import { SpanStatusCode } from '@opentelemetry/api'
import { expect, test } from 'vitest'

import { attachScoring } from '../../src/processor/attach/attach.ts'
import { createToolArgumentsScorer } from '../../src/scorers/code/tool-arguments.ts'
import { createToolCallAccuracyScorerCode } from '../../src/scorers/code/tool-call-accuracy.ts'
import { createTrajectoryScorer } from '../../src/scorers/code/trajectory.ts'
import { createScorer } from '../../src/scorers/create/create-scorer.ts'
import { createToolCallAccuracyScorerLLM } from '../../src/scorers/judge/tool-calls/tool-call-accuracy.ts'
import { createScriptedJudge } from '../../src/testing/scripted-judge.ts'
import { agentAttributes, chatAttributes, createPipeline, open, toolAttributes } from './harness.ts'

const scorers = [
  createToolCallAccuracyScorerCode({ expectedTool: 'book' }),
  createTrajectoryScorer({ expected: ['weather', 'book'] }),
  createToolArgumentsScorer({ expected: [{ name: 'book', arguments: { day: ['Monday'] } }] }),
  createToolCallAccuracyScorerLLM({
    model: createScriptedJudge({}),
    availableTools: [{ name: 'weather', description: 'Looks the weather up.' }],
  }),
]

const failure = { code: SpanStatusCode.ERROR, message: 'connect ECONNREFUSED' }

test.each([
  ['in its first model call', false],
  ['in the model call after its first tool', true],
])('a run that failed %s is not a bad choice: it is skipped as run-failed, with a message', async (_, hasToolCall) => {
  const { tracer, flush, receiver } = await createPipeline({ processors: (batch) => [batch] })
  const scoring = attachScoring({ scorers })
  const agent = open(tracer, 'invoke_agent a', agentAttributes('a'))
  if (hasToolCall) {
    open(tracer, 'chat m', chatAttributes('I will look it up.'), agent).end()
    open(tracer, 'execute_tool weather', toolAttributes('weather'), agent).end()
  }
  const chat = open(tracer, 'chat m', { 'gen_ai.operation.name': 'chat', 'gen_ai.request.model': 'm' }, agent)
  chat.setStatus(failure).end()
  agent.setStatus(failure).end()
  await scoring.forceFlush()
  await flush()
  const attributes = receiver.spans.find(({ name }) => name === 'invoke_agent a')?.attributes
  for (const { id } of scorers) {
    expect(attributes).toMatchObject({
      [`spanscore.${id}.status`]: 'skipped',
      [`spanscore.${id}.status_reason`]: 'run-failed',
      [`spanscore.${id}.status_message`]: `${id}: the run failed before its model could choose what to do.`,
    })
    expect(attributes).not.toHaveProperty(`spanscore.${id}.score`)
  }
})

test('a run that failed in a tool has chosen its tool, and is scored by that choice', async () => {
  const { tracer, flush, receiver } = await createPipeline({ processors: (batch) => [batch] })
  const scoring = attachScoring({ scorers: [createToolCallAccuracyScorerCode({ expectedTool: 'weather' })] })
  const agent = open(tracer, 'invoke_agent a', agentAttributes('a'))
  open(tracer, 'chat m', chatAttributes(), agent).end()
  open(tracer, 'execute_tool weather', toolAttributes('weather'), agent).setStatus(failure).end()
  agent.setStatus(failure).end()
  await scoring.forceFlush()
  await flush()
  expect(receiver.spans.find(({ name }) => name === 'invoke_agent a')?.attributes).toMatchObject({
    'spanscore.tool_call_accuracy.score': 1,
  })
})

test('a message without content is written even if content must not leave', async () => {
  const { tracer, flush, receiver } = await createPipeline({ processors: (batch) => [batch] })
  const throwing = createScorer({ id: 'throwing', description: 'Throws.', needs: [] }).generateScore(({ agentRun }) => {
    throw new Error(agentRun.userInput)
  })
  const scoring = attachScoring({ scorers: [...scorers, throwing], stripContent: true })
  const agent = open(tracer, 'invoke_agent a', agentAttributes('a', 'a-secret'))
  agent.setStatus(failure).end()
  await scoring.forceFlush()
  await flush()
  const attributes = receiver.spans.flatMap((span) => Object.entries(span.attributes))
  expect(attributes).toContainEqual([
    'spanscore.trajectory.status_message',
    'trajectory: the run failed before its model could choose what to do.',
  ])
  expect(attributes).toContainEqual(['spanscore.throwing.status_reason', 'scorer-threw'])
  expect(JSON.stringify(attributes)).not.toContain('a-secret')
})
