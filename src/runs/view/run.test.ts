import { inspect } from 'node:util'

import { describe, expect, it } from 'vitest'

import type { SourceSpan } from '../../spans/source-span.ts'
import type { AgentRun } from '../../model/agent-run.ts'
import { buildRuns } from '../build-runs.ts'

function runOf(...spans: readonly (Partial<SourceSpan> & { spanId: string })[]): AgentRun | undefined {
  const [run] = buildRuns(
    spans.map((fields, index) => ({
      traceId: '0'.repeat(31) + '1',
      name: 'span',
      kind: 1,
      scope: { name: 'app' },
      attributes: {},
      events: [],
      status: { code: 'unset' },
      startTimeMs: index,
      endTimeMs: 10,
      resource: {},
      droppedAttributesCount: 0,
      ...fields,
    })),
  )
  return run
}

const agent = { spanId: 'a', attributes: { 'gen_ai.operation.name': 'invoke_agent' } }
const tool = {
  spanId: 't',
  parentSpanId: 'a',
  attributes: { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': 'search' },
}

function chat(...parts: readonly object[]) {
  const messages = JSON.stringify([{ role: 'assistant', parts }])
  return {
    spanId: 'c',
    parentSpanId: 'a',
    attributes: { 'gen_ai.operation.name': 'chat', 'gen_ai.output.messages': messages },
  }
}

describe('An answer', () => {
  const empty = { type: 'text', content: '' }
  const call = { type: 'tool_call', id: '1', name: 'search', arguments: {} }

  it('that is recorded and has no words is empty, and not missing', () => {
    const run = runOf(agent, chat(empty))
    expect(run?.output).toBe('')
    expect(run?.missing.map(({ what }) => what)).not.toContain('output')
    expect(runOf(agent)?.output).toBeUndefined()
  })

  it('is not what stands beside calls, or before a tool', () => {
    expect(runOf(agent, chat(empty, call))?.output).toBeUndefined()
    expect(runOf(agent, chat(empty), tool)?.output).toBeUndefined()
  })

  it.each([
    ['alone', { 'ai.response.text': '' }, ''],
    [
      'beside calls',
      { 'ai.response.text': '', 'ai.response.toolCalls': '[{"toolCallId":"1","toolName":"t"}]' },
      undefined,
    ],
  ])("without words is read from the AI SDK's spans where it stands %s", (_, attributes, output) => {
    const run = runOf({
      spanId: 'a',
      scope: { name: 'ai' },
      attributes: {
        'ai.operationId': 'ai.generateText',
        'ai.prompt': '{"prompt":"Hello"}',
        'ai.response.finishReason': 'stop',
        ...attributes,
      },
    })
    expect(run?.output).toBe(output)
  })
})

describe('A run that scorers share', () => {
  it('has lists that none of them can change', () => {
    const run = runOf(agent, tool)
    const calls = run?.toolCalls as unknown[]
    expect(() => calls.pop()).toThrow(TypeError)
    expect(run?.toolCalls).toHaveLength(1)
  })

  it('shows what it holds when it is printed', () => {
    const text = inspect(runOf(agent, chat({ type: 'text', content: 'Sunny.' }), tool), { depth: 5 })
    expect(text).toContain("output: 'Sunny.'")
    expect(text).toContain("name: 'search'")
    expect(text).toContain("role: 'assistant'")
  })
})
