import { describe, expect, it } from 'vitest'
import { textMessage, toInstructions, toMessage, toMessages, toolCallsIn } from './messages.ts'
import { unwrapBlocks } from './parts.ts'
import { toToolDefinitions } from './tool-definitions.ts'

const call = { type: 'tool_call', id: 'c1', name: 'weather', arguments: { city: 'Paris' } }
const response = { type: 'tool_call_response', id: 'c1', response: { temp: 20 } }

describe('a tool call', () => {
  it.each([
    ['the conventions', { role: 'assistant', parts: [call] }],
    ['the conventions, arguments as text', { role: 'assistant', parts: [{ ...call, arguments: '{"city":"Paris"}' }] }],
    [
      'OpenAI chat',
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'c1', type: 'function', function: { name: 'weather', arguments: '{"city":"Paris"}' } }],
      },
    ],
    [
      'OpenAI Responses',
      { type: 'function_call', id: 'fc_1', call_id: 'c1', name: 'weather', arguments: '{"city":"Paris"}' },
    ],
    [
      'Anthropic',
      { role: 'assistant', content: [{ type: 'tool_use', id: 'c1', name: 'weather', input: { city: 'Paris' } }] },
    ],
    [
      'Bedrock',
      { role: 'assistant', content: [{ toolUse: { toolUseId: 'c1', name: 'weather', input: { city: 'Paris' } } }] },
    ],
    ['Gemini', { role: 'model', parts: [{ functionCall: { id: 'c1', name: 'weather', args: { city: 'Paris' } } }] }],
    [
      'the AI SDK',
      {
        role: 'assistant',
        content: [{ type: 'tool-call', toolCallId: 'c1', toolName: 'weather', input: { city: 'Paris' } }],
      },
    ],
    [
      'LangChain, serialised',
      {
        lc: 1,
        type: 'constructor',
        id: ['langchain_core', 'messages', 'AIMessage'],
        kwargs: { content: '', tool_calls: [{ id: 'c1', name: 'weather', args: { city: 'Paris' } }] },
      },
    ],
    ['Genkit', { role: 'model', content: [{ toolRequest: { ref: 'c1', name: 'weather', input: { city: 'Paris' } } }] }],
  ])('is the same from %s', (_, message) => {
    expect(toMessage(message)?.role).toBe('assistant')
    expect(toolCallsIn(toMessages([message]))).toEqual([call])
  })
})

describe("a tool's answer", () => {
  it.each([
    ['the conventions', { role: 'tool', parts: [response] }],
    [
      'drafts of the conventions',
      { role: 'user', parts: [{ type: 'tool_call_response', id: 'c1', result: { temp: 20 } }] },
    ],
    ['OpenAI chat', { role: 'tool', tool_call_id: 'c1', content: '{"temp":20}' }],
    ['OpenAI Responses', { type: 'function_call_output', call_id: 'c1', output: '{"temp":20}' }],
    [
      'Anthropic',
      {
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: 'c1', content: [{ type: 'text', text: '{"temp":20}' }] }],
      },
    ],
    ['Bedrock', { role: 'user', content: [{ toolResult: { toolUseId: 'c1', content: [{ json: { temp: 20 } }] } }] }],
    ['Gemini', { role: 'user', parts: [{ functionResponse: { id: 'c1', name: 'weather', response: { temp: 20 } } }] }],
    [
      'the AI SDK',
      {
        role: 'tool',
        content: [
          { type: 'tool-result', toolCallId: 'c1', toolName: 'weather', output: { type: 'json', value: { temp: 20 } } },
        ],
      },
    ],
    [
      'LangChain, serialised',
      {
        lc: 1,
        type: 'constructor',
        id: ['langchain_core', 'messages', 'ToolMessage'],
        kwargs: { tool_call_id: 'c1', content: '{"temp":20}' },
      },
    ],
    ['Genkit', { role: 'tool', content: [{ toolResponse: { ref: 'c1', name: 'weather', output: { temp: 20 } } }] }],
  ])('is the same from %s', (_, message) => {
    expect(toMessage(message)?.parts).toEqual([response])
  })

  it('is marked as an error if the library marks it', () => {
    const output = { type: 'error-text', value: 'boom' }
    const message = { role: 'tool', content: [{ type: 'tool-result', toolCallId: 'c1', toolName: 'x', output }] }
    expect(toMessage(message)?.parts).toEqual([
      { type: 'tool_call_response', id: 'c1', response: 'boom', isError: true },
    ])
  })
})

describe('text', () => {
  it('is that of the text parts; reasoning is none', () => {
    const parts = [
      { type: 'reasoning', content: 'hm' },
      { type: 'text', content: 'a' },
      { type: 'output_text', text: 'b' },
    ]
    expect(toMessage({ role: 'assistant', parts })?.text).toBe('ab')
  })

  it('is not a message if it is only text, or was cut off', () => {
    expect(toMessages('hello')).toBeUndefined()
    expect(toMessages('[{"role":"user","parts":[{"type":"te')).toBeUndefined()
    expect(toInstructions('[{"type":"text","content":"Be br')).toBeUndefined()
  })

  it('keeps unknown roles and kinds, such as `constructor`', () => {
    expect(toMessage({ role: 'constructor', parts: [{ type: 'constructor', a: 1 }] })).toEqual({
      role: 'constructor',
      parts: [{ type: 'unknown', value: { type: 'constructor', a: 1 } }],
    })
    expect(textMessage('user', 'hi')).toEqual({ role: 'user', text: 'hi', parts: [{ type: 'text', content: 'hi' }] })
  })

  it('of instructions is plain, or the parts by line', () => {
    expect(toInstructions('[INST] Be brief. [/INST]')).toBe('[INST] Be brief. [/INST]')
    expect(toInstructions('[{"type":"text","content":"a"},{"type":"text","content":"b"}]')).toBe('a\nb')
  })
})

describe('the tools that were offered', () => {
  const tool = { name: 'weather', description: 'w', parameters: { type: 'object' } }
  it.each([
    ['the conventions', [{ type: 'function', ...tool }]],
    ['OpenAI', [{ type: 'function', function: tool }]],
    ['Anthropic', [{ name: 'weather', description: 'w', input_schema: { type: 'object' } }]],
    [
      'the AI SDK, each as text',
      [JSON.stringify({ type: 'function', name: 'weather', description: 'w', inputSchema: { type: 'object' } })],
    ],
    ['Bedrock', [{ toolSpec: { name: 'weather', description: 'w', inputSchema: { json: { type: 'object' } } } }]],
    ['Gemini', [{ function_declarations: [tool] }]],
  ])('are the same from %s', (_, tools) => {
    expect(toToolDefinitions(JSON.stringify(tools))).toEqual([tool])
  })

  it('have only names if nothing else was written', () => {
    expect(toToolDefinitions('["weather","search"]')).toEqual([{ name: 'weather' }, { name: 'search' }])
  })
})

describe('blocks around a result', () => {
  it('are removed, and nothing else is', () => {
    expect(unwrapBlocks([{ json: { $value: [1] } }])).toEqual([1])
    expect(
      unwrapBlocks([
        { type: 'text', text: '[1,' },
        { type: 'text', text: '2]' },
      ]),
    ).toEqual([1, 2])
    expect(unwrapBlocks([1, 'two'])).toEqual([1, 'two'])
    expect(unwrapBlocks([])).toEqual([])
  })
})
