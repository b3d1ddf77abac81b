import { expect, it } from 'vitest'
import { sourceSpan } from '../../../test/fixtures/source-span.ts'
import { buildRuns } from '../../runs/build-runs.ts'
import type { SourceLog, SourceSpan } from '../source-span.ts'

function span(spanId: string, parentSpanId: string | undefined, name: string, fields: Partial<SourceSpan>): SourceSpan {
  const startTimeMs = spanId.charCodeAt(0)
  return sourceSpan({
    spanId,
    parentSpanId,
    name,
    startTimeMs,
    endTimeMs: startTimeMs + 0.5,
    ...fields,
  })
}

const chat = { 'gen_ai.operation.name': 'chat', 'gen_ai.request.model': 'm' }
const tool = {
  'gen_ai.operation.name': 'execute_tool',
  'gen_ai.tool.name': 'add',
}
const user = { role: 'user', content: 'Sum?' }
const call = {
  id: 'k',
  type: 'function',
  function: { name: 'add', arguments: { a: '1' } },
}

const event = (name: string, content: unknown) => ({
  name,
  timeMs: 1,
  attributes: { 'gen_ai.event.content': JSON.stringify(content) },
})

it('reads the events of Semantic Kernel for .NET, each of which has its message as JSON text', () => {
  const scope = { name: 'Microsoft.SemanticKernel.Diagnostics' }
  const asked = { role: 'assistant', content: null, tool_calls: [call] }
  const [run, ...others] = buildRuns([
    span('a', undefined, 'invoke_agent Helper', {
      scope,
      attributes: {
        'gen_ai.operation.name': 'invoke_agent',
        'gen_ai.agent.name': 'Helper',
      },
    }),
    span('b', 'a', 'chat m', {
      scope,
      attributes: chat,
      events: [
        event('gen_ai.system.message', {
          role: 'system',
          content: 'Be brief.',
          tool_calls: [],
        }),
        event('gen_ai.user.message', { ...user, tool_calls: [] }),
        event('gen_ai.choice', {
          index: 0,
          message: asked,
          tool_calls: [call],
          finish_reason: 'ToolCalls',
        }),
      ],
    }),
    span('c', 'a', 'execute_tool add', {
      scope: { name: 'Microsoft.SemanticKernel' },
      attributes: {
        ...tool,
        'gen_ai.tool.call.arguments': '{"a":"1"}',
        'gen_ai.tool.call.result': '3',
      },
    }),
    span('d', 'a', 'chat m', {
      scope,
      attributes: chat,
      events: [
        event('gen_ai.user.message', user),
        event('gen_ai.assistant.message', asked),
        event('gen_ai.tool.message', { role: 'tool', content: '3' }),
        event('gen_ai.choice', {
          index: 0,
          message: { role: 'assistant', content: 'It is 3.' },
        }),
      ],
    }),
  ])
  expect(others).toEqual([])
  expect(run).toMatchObject({
    agent: { name: 'Helper' },
    userInput: 'Sum?',
    systemInstructions: 'Be brief.',
    output: 'It is 3.',
  })
  expect(run?.toolCalls.map(({ name, arguments: given, result }) => [name, given, result])).toEqual([
    ['add', { a: '1' }, 3],
  ])
})

it('reads the log records of Semantic Kernel for Python, whose bodies are JSON text', () => {
  const scope = {
    name: 'semantic_kernel.utils.telemetry.model_diagnostics.decorators',
  }
  const log = (spanId: string, eventName: string, body: unknown): SourceLog => ({
    traceId: sourceSpan().traceId,
    spanId,
    eventName,
    timeMs: 1,
    attributes: { 'gen_ai.system': 'openai' },
    body: JSON.stringify(body),
    scope,
  })
  const [run] = buildRuns([span('a', undefined, 'chat m', { scope, attributes: chat })], {
    logs: [
      log('a', 'gen_ai.user.message', user),
      log('a', 'gen_ai.choice', {
        message: { role: 'assistant', content: 'It is 3.' },
        finish_reason: 'stop',
      }),
    ],
  })
  expect(run).toMatchObject({ userInput: 'Sum?', output: 'It is 3.' })
})

it('takes a client of Microsoft.Extensions.AI that calls tools by itself for one run, without content too', () => {
  const scope = { name: 'Experimental.Microsoft.Extensions.AI' }
  const runs = buildRuns([
    span('a', undefined, 'orchestrate_tools', { scope }),
    span('b', 'a', 'chat m', {
      scope,
      attributes: { ...chat, 'gen_ai.usage.input_tokens': 3 },
    }),
    span('c', 'a', 'execute_tool add', {
      scope,
      attributes: { ...tool, 'gen_ai.tool.call.id': 'k' },
    }),
    span('d', 'a', 'chat m', {
      scope,
      attributes: { ...chat, 'gen_ai.usage.input_tokens': 4 },
    }),
  ])
  expect(runs.length, 'runs').toBe(1)
  expect(runs[0]?.usage).toEqual({ inputTokens: 7 })
  expect(runs[0]?.toolCalls.map(({ name, status }) => [name, status])).toEqual([['add', 'ok']])
})

const agent = (name: string) => ({
  scope: { name: 'Experimental.Microsoft.Agents.AI' },
  attributes: {
    'gen_ai.operation.name': 'invoke_agent',
    'gen_ai.agent.name': name,
    'gen_ai.input.messages': JSON.stringify([user]),
    'gen_ai.output.messages': JSON.stringify([{ role: 'assistant', content: `By ${name}.` }]),
  },
})

it('takes the agents of a workflow for .NET for one run', () => {
  const scope = { name: 'Microsoft.Agents.AI.Workflows' }
  const runs = buildRuns([
    span('a', undefined, 'workflow.session', { scope }),
    span('b', 'a', 'workflow_invoke', { scope }),
    span('c', 'b', 'executor.process writer', { scope }),
    span('d', 'c', 'invoke_agent Writer(1)', agent('Writer')),
    span('d2', 'd', 'chat m', { scope, attributes: chat }),
    span('e', 'b', 'executor.process editor', { scope }),
    span('f', 'e', 'invoke_agent Editor(2)', agent('Editor')),
    span('f2', 'f', 'chat m', { scope, attributes: chat }),
  ])
  expect(runs.length, 'runs').toBe(1)
  expect(runs[0]).toMatchObject({
    agent: { name: 'Writer' },
    userInput: 'Sum?',
    output: 'By Editor.',
  })
})
