import { expect, it } from 'vitest'
import { treeSpan } from '../../../test/fixtures/source-span.ts'
import { buildRuns } from '../../runs/build-runs.ts'
import type { SourceLog } from '../source-span.ts'

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
    treeSpan('a', undefined, {
      name: 'invoke_agent Helper',
      scope,
      attributes: {
        'gen_ai.operation.name': 'invoke_agent',
        'gen_ai.agent.name': 'Helper',
      },
    }),
    treeSpan('b', 'a', {
      name: 'chat m',
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
    treeSpan('c', 'a', {
      name: 'execute_tool add',
      scope: { name: 'Microsoft.SemanticKernel' },
      attributes: {
        ...tool,
        'gen_ai.tool.call.arguments': '{"a":"1"}',
        'gen_ai.tool.call.result': '3',
      },
    }),
    treeSpan('d', 'a', {
      name: 'chat m',
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
    traceId: treeSpan('a', undefined).traceId,
    spanId,
    eventName,
    timeMs: 1,
    attributes: { 'gen_ai.system': 'openai' },
    body: JSON.stringify(body),
    scope,
  })
  const [run] = buildRuns([treeSpan('a', undefined, { name: 'chat m', scope, attributes: chat })], {
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

it('reads a client of Microsoft.Extensions.AI that calls tools by itself as one run, without content too', () => {
  const scope = { name: 'Experimental.Microsoft.Extensions.AI' }
  const runs = buildRuns([
    treeSpan('a', undefined, { name: 'orchestrate_tools', scope }),
    treeSpan('b', 'a', { name: 'chat m', scope, attributes: { ...chat, 'gen_ai.usage.input_tokens': 3 } }),
    treeSpan('c', 'a', { name: 'execute_tool add', scope, attributes: { ...tool, 'gen_ai.tool.call.id': 'k' } }),
    treeSpan('d', 'a', { name: 'chat m', scope, attributes: { ...chat, 'gen_ai.usage.input_tokens': 4 } }),
  ])
  expect(runs.length, 'runs').toBe(1)
  expect(runs[0]?.usage).toEqual({ inputTokens: 7 })
  expect(runs[0]?.toolCalls.map(({ name, status }) => [name, status])).toEqual([['add', 'ok']])
})

it('reads telemetry around and inside of a client that calls tools by itself as one run', () => {
  const scope = { name: 'Experimental.Microsoft.Extensions.AI' }
  const runs = buildRuns([
    treeSpan('a', undefined, { name: 'chat m', scope, attributes: { ...chat, 'gen_ai.usage.input_tokens': 7 } }),
    treeSpan('b', 'a', { name: 'orchestrate_tools', scope }),
    treeSpan('c', 'b', { name: 'chat m', scope, attributes: { ...chat, 'gen_ai.usage.input_tokens': 3 } }),
    treeSpan('d', 'b', { name: 'execute_tool add', scope, attributes: { ...tool, 'gen_ai.tool.call.id': 'k' } }),
    treeSpan('e', 'b', { name: 'chat m', scope, attributes: { ...chat, 'gen_ai.usage.input_tokens': 4 } }),
  ])
  expect(runs.map(({ spanId, usage, steps }) => [spanId, usage, steps.length])).toEqual([['a', { inputTokens: 7 }, 2]])
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

it('reads the agents of a workflow for .NET as one run', () => {
  const scope = { name: 'Microsoft.Agents.AI.Workflows' }
  const runs = buildRuns([
    treeSpan('a', undefined, { name: 'workflow.session', scope }),
    treeSpan('b', 'a', { name: 'workflow_invoke', scope }),
    treeSpan('c', 'b', { name: 'executor.process writer', scope }),
    treeSpan('d', 'c', { name: 'invoke_agent Writer(1)', ...agent('Writer') }),
    treeSpan('d2', 'd', { name: 'chat m', scope, attributes: chat }),
    treeSpan('e', 'b', { name: 'executor.process editor', scope }),
    treeSpan('f', 'e', { name: 'invoke_agent Editor(2)', ...agent('Editor') }),
    treeSpan('f2', 'f', { name: 'chat m', scope, attributes: chat }),
  ])
  expect(runs.length, 'runs').toBe(1)
  expect(runs[0]).toMatchObject({
    agent: { name: 'Writer' },
    userInput: 'Sum?',
    output: 'By Editor.',
  })
})
