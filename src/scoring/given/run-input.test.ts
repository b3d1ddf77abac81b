import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import type { AgentRun } from '../../model/agent-run.ts'
import { createAgentTestRun, createTestMessage, createToolInvocation } from '../../testing/test-messages.ts'
import { isAgentRun, toRunInput } from './run-input.ts'

const runOf = (output: unknown, input: unknown = 'Weather in Oslo?'): AgentRun => toRunInput({ input, output }).run
const callsOf = (output: unknown, input?: unknown) =>
  runOf(output, input).toolCalls.map(({ id, name, arguments: args, result, status }) => ({
    id,
    name,
    args,
    result,
    status,
  }))

function attempt(given: { readonly input: unknown; readonly output: unknown }): string {
  try {
    return Array.isArray(toRunInput(given).run.toolCalls) ? 'a run' : 'no run'
  } catch (error) {
    return error instanceof Error ? error.name : 'no error'
  }
}

const weather = { id: 'c1', name: 'weather', args: { city: 'Oslo' }, result: { celsius: 4 }, status: 'ok' }

describe('the input of .run()', () => {
  it.each<[string, unknown, string | undefined]>([
    ['text', 'Hi', 'Hi'],
    [
      'messages',
      [
        { role: 'user', content: 'First' },
        { role: 'assistant', content: 'Yes?' },
        { role: 'user', content: 'Hi' },
      ],
      'Hi',
    ],
    ['one message', { role: 'user', content: 'Hi' }, 'Hi'],
    [
      '{ messages }',
      {
        messages: [
          {
            role: 'user',
            content: [
              { type: 'text', text: 'H' },
              { type: 'text', text: 'i' },
            ],
          },
        ],
      },
      'Hi',
    ],
    ['{ prompt }', { prompt: 'Hi' }, 'Hi'],
    ['{ inputMessages }', { inputMessages: [createTestMessage({ role: 'user', content: 'Hi' })] }, 'Hi'],
    ['a UI message', [{ role: 'user', parts: [{ type: 'text', text: 'Hi' }] }], 'Hi'],
    ['null', null, undefined],
    ['no messages', [], undefined],
  ])('is read from %s', (_form, input, text) => {
    expect(runOf('ok', input).userInput).toBe(text)
  })

  it.each<[string, unknown]>([
    ['the result of a tool', [{ type: 'tool_result', tool_use_id: 'c1', content: '4' }]],
    ['an image', [{ type: 'image', image: 'data:image/png;base64,' }]],
  ])('takes the words of the last user message that has any, behind %s', (_what, content) => {
    const input = [
      { role: 'user', content: 'Is it raining?' },
      { role: 'user', content },
    ]
    expect(toRunInput({ input, output: 'x' }).run.userInput).toBe('Is it raining?')
  })

  it('puts all system messages together, a blank line between, and keeps them out of the conversation', () => {
    const run = runOf('ok', {
      inputMessages: [
        { role: 'system', content: 'Third.' },
        { role: 'user', content: 'Hi' },
      ],
      systemMessages: [{ role: 'system', content: 'First.' }],
      taggedSystemMessages: { memory: [{ role: 'system', content: 'Second.' }] },
      rememberedMessages: [
        { role: 'user', content: 'Earlier' },
        { role: 'assistant', content: 'Indeed' },
      ],
    })
    expect(run.systemInstructions).toBe('First.\n\nSecond.\n\nThird.')
    expect(run.input.map(({ text }) => text)).toEqual(['Earlier', 'Indeed', 'Hi'])
  })

  it('takes the tools that were offered', () => {
    const tools = [
      {
        type: 'function',
        function: { name: 'weather', description: 'Tells the weather', parameters: { type: 'object' } },
      },
    ]
    expect(runOf('ok', { messages: [{ role: 'user', content: 'Hi' }], tools }).availableTools).toEqual([
      { name: 'weather', description: 'Tells the weather', parameters: { type: 'object' } },
    ])
  })
})

describe('the output of .run()', () => {
  it.each<[string, unknown, string | undefined]>([
    ['text', 'Hello', 'Hello'],
    ['{ text }', { text: 'Hello' }, 'Hello'],
    ['{ role, text }', { role: 'assistant', text: 'Hello' }, 'Hello'],
    ['a message', { role: 'assistant', content: 'Hello' }, 'Hello'],
    [
      'messages, the last with text',
      [
        { role: 'assistant', content: 'Hello' },
        { role: 'assistant', content: [] },
      ],
      'Hello',
    ],
    [
      'messages, the last not blank',
      [
        { role: 'assistant', content: 'Hello' },
        { role: 'assistant', content: '' },
      ],
      'Hello',
    ],
    ['an empty answer', { role: 'assistant', text: '' }, ''],
    ['nothing', undefined, undefined],
    ['no messages', [], undefined],
    [
      'an AI SDK result',
      { text: 'Hello', steps: [{ text: 'Hello', content: [{ type: 'text', text: 'Hello' }] }] },
      'Hello',
    ],
    ['an AI SDK object', { text: '', object: { a: 1 }, steps: [] }, '{"a":1}'],
    [
      'a result without steps',
      { text: 'Hello', response: { messages: [{ role: 'assistant', content: 'Hello' }] } },
      'Hello',
    ],
  ])('is read from %s', (_form, output, text) => {
    expect(runOf(output).output).toBe(text)
  })

  const args = { city: 'Oslo' }
  const result = { celsius: 4 }
  it.each<[string, unknown]>([
    [
      'Mastra messages',
      [
        createTestMessage({
          role: 'assistant',
          content: '',
          toolInvocations: [
            createToolInvocation({ toolCallId: 'c1', toolName: 'weather', args, result, state: 'result' }),
          ],
        }),
      ],
    ],
    [
      'tool-call and tool-result parts',
      [
        { role: 'assistant', content: [{ type: 'tool-call', toolCallId: 'c1', toolName: 'weather', input: args }] },
        {
          role: 'tool',
          content: [
            { type: 'tool-result', toolCallId: 'c1', toolName: 'weather', output: { type: 'json', value: result } },
          ],
        },
      ],
    ],
    [
      'tool-invocation parts',
      [
        {
          role: 'assistant',
          parts: [
            {
              type: 'tool-invocation',
              toolInvocation: { toolCallId: 'c1', toolName: 'weather', args, result, state: 'result' },
            },
          ],
        },
      ],
    ],
    [
      'UI parts named by their tool',
      [
        {
          role: 'assistant',
          parts: [{ type: 'tool-weather', toolCallId: 'c1', state: 'output-available', input: args, output: result }],
        },
      ],
    ],
    [
      'dynamic-tool parts',
      [
        {
          role: 'assistant',
          parts: [
            {
              type: 'dynamic-tool',
              toolName: 'weather',
              toolCallId: 'c1',
              state: 'output-available',
              input: args,
              output: result,
            },
          ],
        },
      ],
    ],
    [
      'OpenAI tool_calls',
      [
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'c1', type: 'function', function: { name: 'weather', arguments: '{"city":"Oslo"}' } }],
        },
        { role: 'tool', tool_call_id: 'c1', content: '{"celsius":4}' },
      ],
    ],
    [
      'Anthropic blocks',
      [
        { role: 'assistant', content: [{ type: 'tool_use', id: 'c1', name: 'weather', input: args }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c1', content: '{"celsius":4}' }] },
      ],
    ],
    [
      'AI SDK steps',
      {
        text: 'ok',
        steps: [
          {
            content: [
              { type: 'tool-call', toolCallId: 'c1', toolName: 'weather', input: args },
              { type: 'tool-result', toolCallId: 'c1', toolName: 'weather', output: result },
            ],
          },
        ],
      },
    ],
    [
      'Mastra steps',
      {
        text: 'ok',
        steps: [
          {
            toolCalls: [{ type: 'tool-call', payload: { toolCallId: 'c1', toolName: 'weather', args } }],
            toolResults: [{ type: 'tool-result', payload: { toolCallId: 'c1', toolName: 'weather', result } }],
          },
        ],
      },
    ],
    [
      'response messages',
      {
        text: 'ok',
        response: {
          messages: [
            { role: 'assistant', content: [{ type: 'tool-call', toolCallId: 'c1', toolName: 'weather', input: args }] },
            {
              role: 'tool',
              content: [
                { type: 'tool-result', toolCallId: 'c1', toolName: 'weather', output: { type: 'json', value: result } },
              ],
            },
          ],
        },
      },
    ],
    [
      'steps whose lists do not say what they hold',
      {
        text: 'ok',
        steps: [
          {
            content: [{ type: 'text', text: 'Let me see.' }],
            toolCalls: [{ toolCallId: 'c1', toolName: 'weather', args }],
            toolResults: [{ toolCallId: 'c1', toolName: 'weather', result }],
          },
        ],
      },
    ],
    [
      'lists beside the text',
      {
        text: 'ok',
        toolCalls: [{ type: 'tool-call', payload: { toolCallId: 'c1', toolName: 'weather', args } }],
        toolResults: [{ type: 'tool-result', payload: { toolCallId: 'c1', toolName: 'weather', result } }],
      },
    ],
    [
      'lists beside empty steps and messages',
      {
        text: 'ok',
        toolCalls: [{ toolCallId: 'c1', toolName: 'weather', args }],
        toolResults: [{ toolCallId: 'c1', toolName: 'weather', result }],
        steps: [],
        response: { messages: [] },
      },
    ],
    [
      'items of the Responses API',
      [
        { type: 'reasoning', summary: [] },
        { type: 'function_call', call_id: 'c1', name: 'weather', arguments: '{"city":"Oslo"}' },
        { type: 'function_call_output', call_id: 'c1', output: '{"celsius":4}' },
        { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'ok' }] },
      ],
    ],
    [
      'Bedrock blocks',
      [
        { role: 'assistant', content: [{ toolUse: { toolUseId: 'c1', name: 'weather', input: args } }] },
        { role: 'user', content: [{ toolResult: { toolUseId: 'c1', content: [{ json: result }] } }] },
      ],
    ],
  ])('gives the calls of %s', (_form, output) => {
    expect(callsOf(output)).toEqual([weather])
    expect(runOf(output).steps.flatMap(({ toolCallIds }) => toolCallIds)).toEqual(['c1'])
  })

  it.each<[string, unknown, boolean]>([
    ['Gemini parts', { role: 'model', parts: [{ functionCall: { name: 'weather', args } }] }, false],
    [
      "Anthropic's own tools",
      { role: 'assistant', content: [{ type: 'server_tool_use', id: 's1', name: 'weather', input: args }] },
      true,
    ],
  ])('gives the calls of %s', (_form, output, providerExecuted) => {
    expect(runOf(output).toolCalls).toMatchObject([{ name: 'weather', arguments: args, providerExecuted }])
  })

  it.each([
    ['output-error', { state: 'output-error', errorText: 'no such city' }, 'error'],
    ['isError', { state: 'result', result: 'no such city', isError: true }, 'error'],
    ['call', { state: 'call' }, 'unknown'],
    ['output-denied', { state: 'output-denied' }, 'not-executed'],
  ])('says how a call ended: %s', (_name, more, status) => {
    const [call] = runOf([
      { role: 'assistant', toolInvocations: [{ toolCallId: 'c1', toolName: 'weather', args, ...more }] },
    ]).toolCalls
    expect(call?.status).toBe(status)
    expect(call?.error?.message).toBe(status === 'error' ? 'no such city' : undefined)
  })

  it.each(['partial-call', 'input-streaming'])('takes an invocation in the state %s for no call', (state) => {
    expect(
      callsOf([{ role: 'assistant', toolInvocations: [{ toolCallId: 'c1', toolName: 'weather', args, state }] }]),
    ).toEqual([])
  })

  it('counts a repeated id once in any message and form, and takes the result from any of them', () => {
    const call = { type: 'tool-call', toolCallId: 'c1', toolName: 'weather', input: args }
    const output = [
      { role: 'assistant', content: [call] },
      {
        role: 'assistant',
        toolInvocations: [{ toolCallId: 'c1', toolName: 'weather', args, result, state: 'result' }],
      },
      { role: 'assistant', content: [call, { ...call, toolCallId: 'c2' }] },
    ]
    expect(callsOf(output)).toEqual([weather, { ...weather, id: 'c2', result: undefined, status: 'unknown' }])
    expect(
      callsOf({ text: '', steps: [{ content: [call] }], response: { messages: output } }).map(({ id }) => id),
    ).toEqual(['c1', 'c2'])
  })

  it('does not count the result of an earlier call as a new call', () => {
    const input = [
      { role: 'assistant', content: [{ type: 'tool-call', toolCallId: 'c0', toolName: 'weather', input: args }] },
    ]
    const output = [
      { role: 'tool', content: [{ type: 'tool-result', toolCallId: 'c0', toolName: 'weather', output: result }] },
    ]
    expect(callsOf(output, input)).toEqual([])
  })

  it('takes time in proportion to the number of calls, however far away their results are', () => {
    const ids = Array.from({ length: 50_000 }, (_, index) => `c${index}`)
    const calls = ids.map((toolCallId) => ({ type: 'tool-call', toolCallId, toolName: 'weather', input: args }))
    const results = ids.map((toolCallId) => ({ type: 'tool-result', toolCallId, toolName: 'weather', output: result }))
    const said = { role: 'assistant', content: calls }
    const answered = { role: 'tool', content: results }
    expect(runOf([said, answered]).toolCalls.filter(({ status }) => status === 'ok')).toHaveLength(50_000)
    const { run } = toRunInput({ input: [{ role: 'user', content: 'x' }, said], output: [answered] })
    expect(run.toolCalls).toEqual([])
  })

  it('counts every call that has no id', () => {
    expect(callsOf([{ role: 'assistant', toolInvocations: [{ toolName: 'a' }, { toolName: 'a' }] }])).toHaveLength(2)
  })

  it('reads tokens and failure from an agent result', () => {
    const run = runOf({ text: 'x', steps: [], totalUsage: { inputTokens: 7, outputTokens: 2 }, finishReason: 'error' })
    expect(run).toMatchObject({ usage: { inputTokens: 7, outputTokens: 2 }, status: 'error' })
  })
})

describe('a run made of messages', () => {
  it('has the id that it was given, or a new one', () => {
    expect(toRunInput({ runId: 'r1', input: 'a', output: 'b' }).run.id).toBe('r1')
    expect(runOf('b').id).not.toBe(runOf('b').id)
  })

  it('is recognised as a run, also after it was read back from JSON', () => {
    const { run } = toRunInput(createAgentTestRun({ output: 'b' }))
    expect(toRunInput(run)).toEqual({ run })
    expect(isAgentRun(JSON.parse(JSON.stringify(run)))).toBe(true)
  })

  it.each([
    ['a number', 5, /Expected an AgentRun or \{ input, output \}, got 5/],
    ['a number as input', { input: 5, output: 'x' }, /Expected a message/],
    ['an unknown object as input', { input: { question: 'x' }, output: 'x' }, /Expected input to be/],
    ['an unknown object as output', { input: 'x', output: { answer: 'x' } }, /Expected a message/],
    [
      'an answer of an unknown role',
      { input: 'x', output: [{ role: 'bot', content: 'x' }] },
      /one of .*assistant.* "bot"/,
    ],
    ['an AgentRun as output', { input: 'x', output: runOf('x') }, /pass the run itself/],
    ['a promise as output', { input: 'x', output: Promise.resolve('x') }, /await it/],
    ["a stream's result as output", { input: 'x', output: { text: Promise.resolve('x'), steps: [] } }, /await it/],
  ])('refuses %s', (_title, given, message) => {
    // @ts-expect-error wrong on purpose
    expect(() => toRunInput(given)).toThrow(message)
  })

  const hi = { role: 'user', content: 'Hi' }
  it.each<[string, Readonly<Record<string, unknown>>, RegExp]>([
    ['a field', { groundTruht: 'x' }, /of input, output, .* "groundTruht". Did you mean groundTruth\?/],
    ['a field of the input', { input: { prompt: 'Hi', tool: [] } }, /^input: .* "tool". Did you mean tools\?/],
    [
      'the content of a message',
      { input: [{ role: 'user', contnet: 'Hi' }] },
      /message with content, .* got \{.*contnet/,
    ],
    ['a role', { input: [{ ...hi, role: 'usr' }] }, /of system, user, .* "usr". Did you mean user\?/],
    [
      'the type of a part',
      { input: [{ ...hi, content: [{ type: 'txt', text: 'Hi' }] }] },
      /"txt". Did you mean text\?/,
    ],
    [
      'the text of a part',
      { output: [{ ...hi, content: [{ type: 'text', txt: 'Hi' }] }] },
      /part with text, got .*txt/,
    ],
    [
      'the name of a tool',
      { output: [{ role: 'assistant', content: [{ type: 'tool-call', toolCallId: 'c1', tolName: 'weather' }] }] },
      /part with toolName or name, got .*tolName/,
    ],
  ])('refuses %s that was misspelt', (_what, given, message) => {
    expect(() => toRunInput({ input: 'Hi', output: 'Hello', ...given })).toThrow(message)
  })

  it("reads a message with roles, fields and parts of a library's own", () => {
    const content = [{ type: 'step-start' }, { type: 'text', text: 'Hello' }, { type: 'data-weather', data: {} }]
    const signal = { role: 'signal', text: 'Be quick.' }
    expect(runOf([signal, { role: 'assistant', id: 'm1', createdAt: 1, content }], [signal]).output).toBe('Hello')
  })

  it('throws nothing but a TypeError for any input', () => {
    fc.assert(
      fc.property(
        fc.anything({ withBigInt: true, withNullPrototype: true }),
        fc.anything({ withBigInt: true }),
        (input, output) => {
          expect(attempt({ input, output })).toMatch(/^(?:a run|TypeError)$/)
        },
      ),
      { numRuns: 1000 },
    )
  })
})
