import { expect, it } from 'vitest'

import { sourceSpan } from '../../../test/fixtures/source-span.ts'
import { buildRuns, reconstructRuns } from '../build-runs.ts'

it('explains what thousands of calls of one model call lack within a moment', () => {
  const attributes: Record<string, unknown> = { 'gen_ai.system': 'openai', 'gen_ai.request.model': 'a-model' }
  attributes['gen_ai.operation.name'] = 'chat'
  for (let index = 0; index < 4000; index++) {
    attributes[`gen_ai.completion.0.tool_calls.${index}.id`] = `call_${index}`
    attributes[`gen_ai.completion.0.tool_calls.${index}.name`] = 'weather'
  }
  const scope = { name: 'opentelemetry.instrumentation.openai.v1' }
  const [run] = reconstructRuns([sourceSpan({ name: 'openai.chat', scope, attributes })])
  const before = process.cpuUsage()
  expect(run?.missing.filter(({ what }) => what.endsWith('.arguments'))).toHaveLength(4000)
  const { user, system } = process.cpuUsage(before)
  // When each call looked at all attributes, this took more than a minute.
  expect((user + system) / 1000).toBeLessThan(2000)
})

it('joins thousands of hand-offs in order, whose spans are named differently from the calls, within a moment', () => {
  const each = Array.from({ length: 4000 }, (_, index) => index)
  const calls = each.map((index) => ({
    type: 'tool_call',
    id: `call_${index}`,
    name: `transfer_to_${index}`,
    arguments: {},
  }))
  const chat = {
    'gen_ai.operation.name': 'chat',
    'gen_ai.output.messages': JSON.stringify([{ role: 'assistant', parts: calls, finish_reason: 'tool_call' }]),
  }
  const handoffs = each.map((index) =>
    sourceSpan({
      spanId: `${index + 10}`,
      parentSpanId: '01',
      startTimeMs: 1000 + index,
      attributes: {
        'gen_ai.operation.name': 'handoff',
        'gen_ai.tool.name': `agent ${index}`,
        'gen_ai.tool.call.result': index,
      },
    }),
  )
  const [run] = buildRuns([
    sourceSpan({ spanId: '01', attributes: { 'gen_ai.operation.name': 'invoke_agent' } }),
    sourceSpan({ spanId: '02', parentSpanId: '01', attributes: chat }),
    ...handoffs,
  ])
  const before = process.cpuUsage()
  expect(run?.toolCalls.map(({ id, result }) => [id, result])).toEqual(each.map((index) => [`call_${index}`, index]))
  const { user, system } = process.cpuUsage(before)
  expect((user + system) / 1000).toBeLessThan(2000)
})
