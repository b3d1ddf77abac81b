import { expect, it } from 'vitest'
import { sourceSpan } from '../../../test/fixtures/source-span.ts'
import { buildRuns } from '../../runs/build-runs.ts'
import type { SourceSpan } from '../source-span.ts'

const written = (name: string, id: string) =>
  JSON.stringify([{ function: { name, arguments: '{"city": "Oslo"}' }, id, type: 'function' }])

function span(spanId: string, parentSpanId: string | undefined, startTimeMs: number, attributes: object): SourceSpan {
  const times = { startTimeMs, endTimeMs: startTimeMs + 1 }
  return sourceSpan({
    spanId,
    parentSpanId,
    ...times,
    scope: { name: 'ai.koog' },
    attributes: { ...attributes },
  })
}

it('reads calls that are written as texts, and joins them to their spans', () => {
  const request = {
    'gen_ai.operation.name': 'chat',
    'gen_ai.prompt.0.role': 'system',
    'gen_ai.prompt.0.content': 'Be brief.',
    'gen_ai.prompt.1.role': 'user',
    'gen_ai.prompt.1.content': 'Warm?',
  }
  const [run] = buildRuns([
    span('a', undefined, 1, { 'gen_ai.operation.name': 'invoke_agent' }),
    span('b', 'a', 2, {
      ...request,
      'gen_ai.completion.0.role': 'assistant',
      'gen_ai.completion.0.content': written('weather', 'c1'),
      'gen_ai.completion.1.role': 'assistant',
      'gen_ai.completion.1.content': written('clock', 'c2'),
    }),
    span('c', 'a', 4, {
      'gen_ai.tool.name': 'clock',
      'gen_ai.tool.call.id': 'c2',
      'output.value': 'noon',
    }),
    span('d', 'a', 4, {
      'gen_ai.tool.name': 'weather',
      'gen_ai.tool.call.id': 'c1',
      'output.value': 'warm',
    }),
    span('e', 'a', 6, {
      ...request,
      'gen_ai.prompt.2.role': 'tool',
      'gen_ai.prompt.2.content': written('weather', 'c1'),
      'gen_ai.prompt.3.role': 'tool',
      'gen_ai.prompt.3.content': 'warm',
      'gen_ai.completion.0.role': 'assistant',
      'gen_ai.completion.0.content': 'Yes.',
    }),
  ])
  expect(run).toMatchObject({
    userInput: 'Warm?',
    systemInstructions: 'Be brief.',
    output: 'Yes.',
  })
  expect(run?.toolCalls.map(({ name, id, arguments: given, result }) => [name, id, given, result])).toEqual([
    ['weather', 'c1', { city: 'Oslo' }, 'warm'],
    ['clock', 'c2', { city: 'Oslo' }, 'noon'],
  ])
})

const exchange = (given: readonly object[], said: readonly object[]) => ({
  'gen_ai.operation.name': 'chat',
  'gen_ai.input.messages': JSON.stringify(given),
  'gen_ai.output.messages': JSON.stringify(said),
})

it('reads messages with roles in capitals, and calls that have a message and a role of their own', () => {
  const system = {
    role: 'System',
    parts: [{ type: 'text', content: 'Be brief.' }],
  }
  const user = { role: 'User', parts: [{ type: 'text', content: 'Warm?' }] }
  const thought = {
    role: 'Reasoning',
    parts: [{ type: 'text', content: 'I look.' }],
  }
  const call = {
    role: 'Tool',
    parts: [
      {
        type: 'tool_call',
        id: 'c1',
        name: 'weather',
        arguments: { city: 'Oslo' },
      },
    ],
  }
  const result = {
    role: 'Tool',
    parts: [{ type: 'tool_call_response', id: 'c1', result: 'warm' }],
  }
  const answer = {
    role: 'Assistant',
    parts: [{ type: 'text', content: 'Yes.' }],
  }
  const [run] = buildRuns([
    span('a', undefined, 1, {
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.agent.id': 'helper',
    }),
    span('b', 'a', 2, exchange([system, user], [thought, call])),
    span('c', 'a', 4, {
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': 'weather',
      'gen_ai.tool.call.id': 'c1',
    }),
    span('d', 'a', 6, exchange([system, user, call, result], [answer])),
  ])
  expect(run).toMatchObject({
    userInput: 'Warm?',
    systemInstructions: 'Be brief.',
    output: 'Yes.',
    status: 'ok',
  })
  expect(run?.toolCalls.map(({ name, arguments: given, result: gave }) => [name, given, gave])).toEqual([
    ['weather', { city: 'Oslo' }, 'warm'],
  ])
  expect(run?.steps.map((step) => step.output?.map((message) => message.text))).toEqual([
    [undefined, undefined],
    ['Yes.'],
  ])
})

it('treats hidden values as absent, in attributes and in events', () => {
  const hidden = 'HIDDEN:non-empty'
  const chat = { 'gen_ai.operation.name': 'chat' }
  const messages = {
    'gen_ai.input.messages': hidden,
    'gen_ai.output.messages': hidden,
    system_instructions: hidden,
  }
  const events = ['gen_ai.user.message', 'gen_ai.assistant.message'].map((name) => ({
    name,
    timeMs: 2,
    attributes: { content: hidden },
  }))
  const models = [span('b', 'a', 2, { ...chat, ...messages }), { ...span('b', 'a', 2, chat), events }]
  for (const model of models) {
    const [run] = buildRuns([
      span('a', undefined, 1, {
        'gen_ai.operation.name': 'invoke_agent',
        'gen_ai.agent.id': 'helper',
      }),
      model,
      span('c', 'a', 4, {
        'gen_ai.tool.name': 'clock',
        'gen_ai.tool.call.arguments': hidden,
        'gen_ai.tool.call.result': hidden,
      }),
    ])
    expect([run?.userInput, run?.output, run?.toolCalls[0]?.arguments, run?.toolCalls[0]?.result]).toEqual(
      Array(4).fill(undefined),
    )
    expect(run?.missing).toContainEqual({
      what: 'input',
      why: 'not-captured',
      switch: 'setVerbose(true)',
    })
    expect(run?.missing).toContainEqual({
      what: 'toolCalls[0].result',
      why: 'not-captured',
      switch: 'setVerbose(true)',
    })
  }
})
