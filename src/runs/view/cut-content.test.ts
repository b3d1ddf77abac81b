import { describe, expect, it } from 'vitest'

import { sourceSpan } from '../../../test/fixtures/source-span.ts'
import type { SourceSpan } from '../../spans/source-span.ts'
import { reconstructRuns } from '../build-runs.ts'

const LIMIT = 160

function span(
  spanId: string,
  parentSpanId: string | undefined,
  attributes: Record<string, unknown>,
  scope = 'app',
): SourceSpan {
  const cut = Object.entries(attributes).map(([key, value]) => [
    key,
    typeof value === 'string' ? value.slice(0, LIMIT) : value,
  ])
  return sourceSpan({
    spanId,
    parentSpanId,
    scope: { name: scope },
    attributes: Object.fromEntries(cut),
    startTimeMs: Number.parseInt(spanId, 16),
    endTimeMs: 100 - Number.parseInt(spanId, 16),
  })
}

const AGENT = '0000000000000001'
const LONG = 'The quick brown fox jumps over the lazy dog. '.repeat(8)

function message(role: string, content: string): string {
  return JSON.stringify([{ role, parts: [{ type: 'text', content }] }])
}

function tools(description: string): Record<string, unknown> {
  return { 'gen_ai.tool.definitions': JSON.stringify([{ type: 'function', name: 'search', description }]) }
}

describe('content that a length limit cut off', () => {
  it('gives no half of a result or of arguments', () => {
    const [run] = reconstructRuns([
      span(AGENT, undefined, { 'gen_ai.operation.name': 'invoke_agent' }),
      span('0000000000000002', AGENT, {
        'gen_ai.operation.name': 'execute_tool',
        'gen_ai.tool.name': 'search',
        'gen_ai.tool.call.arguments': JSON.stringify(LONG),
        'gen_ai.tool.call.result': JSON.stringify({ text: LONG }),
      }),
    ])
    expect(run?.toolCalls[0]?.result).toBeUndefined()
    expect(run?.toolCalls[0]?.arguments).toBeUndefined()
    expect(run?.missing).toContainEqual(expect.objectContaining({ what: 'toolCalls[0].result', why: 'truncated' }))
  })

  it('gives no half of an answer that is as long as a text of JSON that was cut', () => {
    const [run] = reconstructRuns([
      span(AGENT, undefined, { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.completion': LONG }),
      span('0000000000000002', AGENT, {
        'gen_ai.operation.name': 'chat',
        'gen_ai.request.model': 'a-model',
        'gen_ai.input.messages': message('user', LONG),
      }),
    ])
    expect(run?.output).toBeUndefined()
    expect(run?.missing).toContainEqual(expect.objectContaining({ what: 'output', why: 'truncated' }))
  })

  it('keeps an answer of another length', () => {
    const [run] = reconstructRuns([
      span(AGENT, undefined, { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.completion': LONG.slice(0, 120) }),
      span('0000000000000002', AGENT, {
        'gen_ai.operation.name': 'chat',
        'gen_ai.request.model': 'a-model',
        'gen_ai.input.messages': message('user', LONG),
      }),
    ])
    expect(run?.output).toBe(LONG.slice(0, 120))
  })

  it('does not call a run one without tool calls if the answer of its model was cut', () => {
    const [run] = reconstructRuns([
      span(AGENT, undefined, { 'gen_ai.operation.name': 'invoke_agent' }),
      span('0000000000000002', AGENT, {
        'gen_ai.operation.name': 'chat',
        'gen_ai.request.model': 'a-model',
        'gen_ai.output.messages': message('assistant', LONG),
      }),
    ])
    expect(run?.missing).toContainEqual(expect.objectContaining({ what: 'toolCalls', why: 'truncated' }))
  })

  it('says so of instructions that only the agent had', () => {
    const [run] = reconstructRuns([
      span(AGENT, undefined, {
        'gen_ai.operation.name': 'invoke_agent',
        'gen_ai.system_instructions': JSON.stringify([{ type: 'text', content: LONG }]),
      }),
      span('0000000000000002', AGENT, { 'gen_ai.operation.name': 'chat', 'gen_ai.request.model': 'a-model' }),
    ])
    expect(run?.missing).toContainEqual(expect.objectContaining({ what: 'systemInstructions', why: 'truncated' }))
  })

  it('does not miss the result of a call that failed, whose arguments were cut', () => {
    const [run] = reconstructRuns([
      span(AGENT, undefined, { 'gen_ai.operation.name': 'invoke_agent' }),
      span('0000000000000002', AGENT, {
        'gen_ai.operation.name': 'execute_tool',
        'gen_ai.tool.name': 'search',
        'gen_ai.tool.call.arguments': JSON.stringify({ text: LONG }),
        'error.type': 'Timeout',
      }),
    ])
    expect(run?.toolCalls[0]?.status).toBe('error')
    expect(run?.missing.map(({ what }) => what)).not.toContain('toolCalls[0].result')
  })

  it.each([
    ['the model call', {}, tools(LONG)],
    ['the agent', tools(LONG), {}],
    [
      'the request of Pydantic AI',
      {},
      { model_request_parameters: JSON.stringify({ function_tools: [{ name: LONG }] }) },
      'pydantic-ai',
    ],
  ])('says so of the tools that %s lists', (_, ofAgent, ofModel, scope = 'app') => {
    const [run] = reconstructRuns([
      span(AGENT, undefined, { 'gen_ai.operation.name': 'invoke_agent', ...ofAgent }),
      span(
        '0000000000000002',
        AGENT,
        { 'gen_ai.operation.name': 'chat', 'gen_ai.request.model': 'a-model', ...ofModel },
        scope,
      ),
    ])
    expect(run?.availableTools).toBeUndefined()
    expect(run?.missing).toContainEqual(expect.objectContaining({ what: 'availableTools', why: 'truncated' }))
  })
})
