import { inspect } from 'node:util'

import { describe, expect, it } from 'vitest'

import { sourceSpan } from '../../../test/fixtures/source-span.ts'
import type { SourceSpan } from '../../spans/source-span.ts'
import type { AgentRun } from '../../model/agent-run.ts'
import { buildRuns } from '../build-runs.ts'

function runOf(...spans: readonly (Partial<SourceSpan> & { spanId: string })[]): AgentRun | undefined {
  const [run] = buildRuns(spans.map((fields, index) => sourceSpan({ startTimeMs: index, endTimeMs: 10, ...fields })))
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

const missing = (run: AgentRun | undefined) => run?.missing.map(({ what }) => what)

const silent = (...reasons: readonly string[]) => ({
  ...chat(),
  attributes: { 'gen_ai.operation.name': 'chat', 'gen_ai.response.finish_reasons': reasons },
})

const ai = (spanId: string, operation: string, attributes: object) => ({
  spanId,
  ...(spanId !== 'a' && { parentSpanId: 'a' }),
  scope: { name: 'ai' },
  attributes: { 'ai.operationId': operation, ...attributes },
})

const answered = (output: object) =>
  JSON.stringify([
    { role: 'assistant', content: [{ type: 'tool-call', toolCallId: '1', toolName: 'search', input: {} }] },
    { role: 'tool', content: [{ type: 'tool-result', toolCallId: '1', toolName: 'search', output }] },
  ])

const withResult = (result: string) =>
  runOf(agent, { ...tool, attributes: { ...tool.attributes, 'gen_ai.tool.call.result': result } })

const ofAiSdk = (...parts: readonly object[]) => {
  const scope = { name: 'gen_ai' }
  const ended = { 'gen_ai.operation.name': 'chat', 'gen_ai.response.finish_reasons': ['tool-calls'] }
  const model = chat(...parts)
  return runOf(
    { ...agent, scope, attributes: { ...ended, ...agent.attributes } },
    { ...model, scope, attributes: { ...(parts.length > 0 && model.attributes), ...ended } },
  )
}

describe('An answer', () => {
  const call = { type: 'tool_call', id: '1', name: 'confirm', arguments: {} }
  it('is not missing while the run waits for a tool of the client', () => {
    const run = ofAiSdk(call)
    expect(run?.toolCalls).toMatchObject([{ name: 'confirm', status: 'waiting' }])
    expect(missing(run)).not.toContain('output')
  })

  it('is missing if it was not recorded', () => {
    expect(missing(ofAiSdk())).toContain('output')
  })
})

describe('Tool calls', () => {
  it('are unknown for an agent without a span of a model call', () => {
    expect(missing(runOf(agent))).toContain('toolCalls')
  })

  it('are known to be none if a model call requested none', () => {
    expect(missing(runOf(agent, chat({ type: 'text', content: 'Hello.' })))).not.toContain('toolCalls')
  })

  it('are known if a tool has its own span', () => {
    expect(missing(runOf(agent, tool))).not.toContain('toolCalls')
  })

  it.each([
    ['says that it asked for tools', ['tool_calls']],
    ['says that it is complete, as some say beside calls', ['completed']],
    ['does not say how it ended', []],
  ])('are unknown where a model call without a recorded answer %s', (_, reasons) => {
    expect(missing(runOf(agent, silent(...reasons)))).toContain('toolCalls')
    expect(missing(runOf({ ...silent(...reasons), parentSpanId: undefined }))).toContain('toolCalls')
  })

  it('are known where a tool has a span', () => {
    expect(missing(runOf(agent, silent('tool_calls'), tool))).not.toContain('toolCalls')
    expect(missing(runOf(agent, silent(), tool))).not.toContain('toolCalls')
  })

  it('took place where the model was sent a result, also if the library writes a span for each and that one was lost', () => {
    const asked = { toolCallId: '1', toolName: 'search', input: '{}' }
    const statusOf = (output: object) =>
      runOf(
        ai('a', 'ai.generateText', {}),
        ai('1', 'ai.generateText.doGenerate', { 'ai.response.toolCalls': JSON.stringify([asked]) }),
        ai('2', 'ai.generateText.doGenerate', { 'ai.prompt.messages': answered(output), 'ai.response.text': 'Done.' }),
      )?.toolCalls[0]?.status
    expect(statusOf({ type: 'json', value: { hits: 3 } })).toBe('ok')
    expect(statusOf({ type: 'error-text', value: 'Invalid input for tool search' })).toBe('not-executed')
  })

  it('have no result that is the beginning of JSON: a length limit cut it off', () => {
    const [call] = withResult('{"hits":3,"first":"Os')?.toolCalls ?? []
    expect(call).toMatchObject({ status: 'ok', name: 'search' })
    expect(call?.result).toBeUndefined()
    expect(withResult('[draft] three hits')?.toolCalls[0]?.result).toBe('[draft] three hits')
  })
})

describe('An answer', () => {
  const empty = { type: 'text', content: '' }
  const call = { type: 'tool_call', id: '1', name: 'search', arguments: {} }

  it('that is recorded without text is empty, and not missing', () => {
    const run = runOf(agent, chat(empty))
    expect(run?.output).toBe('')
    expect(run?.missing.map(({ what }) => what)).not.toContain('output')
    expect(runOf(agent)?.output).toBeUndefined()
  })

  it('is not the text beside tool calls, or before a tool', () => {
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
  ])('without text is read from spans of the AI SDK if it is %s', (_, attributes, output) => {
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

function starting(attributes: object) {
  return { ...tool, attributes: { ...tool.attributes, ...attributes } }
}

function request(text: string): string {
  return JSON.stringify([{ role: 'user', parts: [{ type: 'text', content: text }] }])
}

describe('An agent below a tool whose own span says nothing', () => {
  const asked = { query: 'Sum?', language: 'en' }
  const inner = { ...agent, spanId: 'i', parentSpanId: 't' }

  it('has the question, the answer and the name of the tool', () => {
    const attributes = {
      'gen_ai.tool.call.arguments': JSON.stringify(asked),
      'gen_ai.tool.call.result': JSON.stringify({ content: [{ type: 'text', text: '3' }] }),
    }
    const [child] = runOf(agent, starting(attributes), inner)?.children ?? []
    expect(child).toMatchObject({ agent: { name: 'search' }, userInput: 'Sum?', output: '3' })
  })

  it('has no question if the arguments of the tool contain none', () => {
    const attributes = { 'gen_ai.tool.call.arguments': JSON.stringify({ a: 1, b: 'x', c: 'y' }) }
    const [child] = runOf(agent, starting(attributes), inner)?.children ?? []
    expect(child?.userInput).toBeUndefined()
    expect(child?.output).toBeUndefined()
  })
})

describe('The question', () => {
  const given = (text: string) => ({
    ...agent,
    attributes: { ...agent.attributes, 'gen_ai.input.messages': request(text) },
  })
  const call = { ...chat(), attributes: { ...chat().attributes, 'gen_ai.input.messages': request('Warm "now"?') } }

  it('comes from the model call if the agent span holds a whole state', () => {
    expect(runOf(given(JSON.stringify({ state: { question: 'Warm "now"?' } })), call)?.userInput).toBe('Warm "now"?')
    expect(runOf(given(`RunInput(content='Warm "now"?', id=None)`), call)?.userInput).toBe('Warm "now"?')
  })

  it('comes from the agent span if that has the question', () => {
    expect(runOf(given('{"city": "Oslo"}'), call)?.userInput).toBe('{"city": "Oslo"}')
    expect(runOf(given('Is it Warm "now"? Say.'), call)?.userInput).toBe('Is it Warm "now"? Say.')
  })
})

describe('Tokens', () => {
  it('are not those of one step if no model has a span', () => {
    const step = {
      spanId: 's',
      parentSpanId: 'a',
      attributes: { 'gen_ai.operation.name': 'x', 'gen_ai.usage.input_tokens': 3 },
    }
    expect(runOf(agent, step)?.usage).toEqual({})
  })

  it('are summed over model spans with custom operation names', () => {
    const attributes = { 'gen_ai.operation.name': 'call_llm', 'gen_ai.request.model': 'm' }
    const called = (spanId: string, tokens: number) => ({
      spanId,
      parentSpanId: 'a',
      attributes: { ...attributes, 'gen_ai.usage.input_tokens': tokens, 'gen_ai.usage.output_tokens': 1 },
    })
    expect(runOf(agent, called('c', 3), called('d', 4))?.usage).toEqual({ inputTokens: 7, outputTokens: 2 })
  })
})

function sharedRun(): AgentRun | undefined {
  return runOf(
    {
      ...agent,
      attributes: {
        ...agent.attributes,
        'app.tags': ['a', 'b'],
        'gen_ai.input.messages': '[{"role":"user","parts":[{"type":"text","content":"Hello"}]}]',
        'gen_ai.tool.definitions': '[{"type":"function","name":"search","parameters":{"type":"object"}}]',
      },
    },
    chat({ type: 'tool_call', id: '1', name: 'search', arguments: { query: { text: 'x' } } }),
    {
      ...tool,
      attributes: {
        ...tool.attributes,
        'gen_ai.tool.call.id': '1',
        'gen_ai.tool.call.result': '{"found":[{"id":1}]}',
      },
      status: { code: 'error', message: 'lost' },
    },
    { ...tool, spanId: 'u', attributes: { ...tool.attributes, 'gen_ai.tool.call.result': '{"found":[{"id":1}]}' } },
  )
}

describe('A run that several scorers share', () => {
  it('has nothing that one of them could change for the others', () => {
    const reached = new Set<object>()
    const visit = (value: unknown): void => {
      if (typeof value !== 'object' || value === null || reached.has(value)) return
      reached.add(value)
      const prototype: object = Object.getPrototypeOf(value)
      const getters = Object.entries(Object.getOwnPropertyDescriptors(prototype)).filter(
        ([, descriptor]) => descriptor.get !== undefined,
      )
      for (const name of [...Object.keys(value), ...getters.map(([key]) => key)]) {
        if (name !== '__proto__') visit(Reflect.get(value, name))
      }
    }
    visit(sharedRun())
    expect(reached.size).toBeGreaterThan(25)
    expect([...reached].filter((value) => !Object.isFrozen(value))).toEqual([])
  })

  it('throws an error for a scorer that tries, and does not change', () => {
    const run = sharedRun()
    const before = JSON.stringify(run)
    const attempts: (() => unknown)[] = [
      () => Reflect.apply(Array.prototype.sort, run?.toolCalls, []),
      () => Object.assign(run?.input[0] ?? {}, { role: 'assistant' }),
      () => Object.assign(Object(run?.toolCalls[0]?.arguments), { query: 'y' }),
      () => Object.assign(run?.attributes ?? {}, { 'app.tags': [] }),
      () => Object.defineProperty(run, 'output', { value: 'Mine.' }),
    ]
    for (const attempt of attempts) expect(attempt).toThrow(TypeError)
    expect(JSON.stringify(run)).toBe(before)
  })
})
