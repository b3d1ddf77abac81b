import { ROOT_CONTEXT, trace } from '@opentelemetry/api'
import { TracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace'
import { expect, test } from 'vitest'

import { ScoringSpanProcessor } from '../../src/processor/scoring-span-processor.ts'
import { createToolErrorsScorer } from '../../src/scorers/code/tool-errors.ts'
import { createTrajectoryScorer } from '../../src/scorers/code/trajectory.ts'

const STEPS = 40

/** An agent whose requests repeat the whole conversation: together more than 1 MiB, of which each message is new once. */
test('a long conversation is scored on the live span, although its requests together are large', async () => {
  const exporter = new InMemorySpanExporter()
  const expected = Array.from({ length: STEPS }, () => 'look')
  const scoring = new ScoringSpanProcessor({
    scorers: [createToolErrorsScorer(), createTrajectoryScorer({ expected })],
  })
  const tracer = new TracerProvider({
    spanProcessors: [scoring, new SimpleSpanProcessor({ exporter })],
  }).getTracer('agents')
  const agent = tracer.startSpan('invoke_agent a', { attributes: { 'gen_ai.operation.name': 'invoke_agent' } })
  const context = trace.setSpan(ROOT_CONTEXT, agent)
  const messages: object[] = [{ role: 'user', parts: [{ type: 'text', content: 'Look around.' }] }]
  let written = 0
  for (let step = 0; step < STEPS; step += 1) {
    const input = JSON.stringify(messages)
    written += input.length
    const call = {
      role: 'assistant',
      parts: [{ type: 'tool_call', id: `c${step}`, name: 'look', arguments: { step } }],
    }
    const attributes = { 'gen_ai.input.messages': input, 'gen_ai.output.messages': JSON.stringify([call]) }
    tracer.startSpan('chat', { attributes: { 'gen_ai.operation.name': 'chat', ...attributes } }, context).end()
    const response = 'word '.repeat(260)
    const tool = { 'gen_ai.tool.name': 'look', 'gen_ai.tool.call.id': `c${step}`, 'gen_ai.tool.call.result': response }
    tracer.startSpan('look', { attributes: { 'gen_ai.operation.name': 'execute_tool', ...tool } }, context).end()
    messages.push(call, { role: 'tool', parts: [{ type: 'tool_call_response', id: `c${step}`, response }] })
  }
  agent.end()
  expect(written).toBeGreaterThan(1024 * 1024)
  // Neither processor waits for the other, so the scores are on the span that was exported.
  expect(exporter.getFinishedSpans().at(-1)?.attributes).toMatchObject({
    'spanscore.tool_errors.score': 0,
    'spanscore.trajectory.score': 1,
  })
  await scoring.shutdown()
})
