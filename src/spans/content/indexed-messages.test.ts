import { expect, it } from 'vitest'
import { fromIndexed } from './indexed-messages.ts'
import { toolCallsIn } from './messages.ts'

it('reads messages by their indices, in any order of the keys', () => {
  const messages = fromIndexed(
    {
      'p.2.content': 'b',
      'p.2.role': 'user',
      'p.0.content': 'a',
      'p.0.role': 'system',
      'p.x.content': 'no',
      'p.1': 'no',
    },
    'p.',
    'user',
  )
  expect(messages?.map(({ role, text }) => [role, text])).toEqual([
    ['system', 'a'],
    ['user', 'b'],
  ])
})

it('reads calls, and content blocks that were flattened too', () => {
  const messages = fromIndexed(
    {
      'p.0.role': 'user',
      'p.0.content.0.text': 'Hi',
      'p.1.role': 'assistant',
      'p.1.content.0.toolUse.name': 'search',
      'p.1.content.0.toolUse.toolUseId': 'c1',
      'p.1.content.0.toolUse.input.query': 'x',
      'p.2.role': 'assistant',
      'p.2.tool_calls.0.name': 'search',
      'p.2.tool_calls.0.id': 'c2',
      'p.2.tool_calls.0.arguments': '{"query":"y"}',
    },
    'p.',
    'user',
  )
  expect(messages?.[0]?.text).toBe('Hi')
  expect(toolCallsIn(messages)).toEqual([
    { type: 'tool_call', id: 'c1', name: 'search', arguments: { query: 'x' } },
    { type: 'tool_call', id: 'c2', name: 'search', arguments: { query: 'y' } },
  ])
})

it('reads blocks in the place of the message', () => {
  const messages = fromIndexed({ 'c.0.text': 'Let me see.', 'c.1.toolUse.name': 'search' }, 'c.', 'assistant')
  expect(messages?.[0]?.text).toBe('Let me see.')
  expect(toolCallsIn(messages).map(({ name }) => name)).toEqual(['search'])
})

it('ignores keys of other libraries', () => {
  const messages = fromIndexed(
    { 'p.0.__proto__.polluted': 1, 'p.0.content.__proto__.x': 1, 'p.0.role': 'user' },
    'p.',
    'user',
  )
  expect(messages).toHaveLength(1)
  expect(({} as Record<string, unknown>).polluted).toBeUndefined()
})

it('reads calls that are written one by one, as LiteLLM writes them', () => {
  const attributes = {
    'gen_ai.completion.0.function_call.name': 'weather',
    'gen_ai.completion.0.function_call.arguments': '{"city":"Oslo"}',
    'gen_ai.completion.1.function_call.name': 'weather',
    'gen_ai.completion.1.function_call.arguments': '{"city":"Bergen"}',
  }
  const messages = fromIndexed(attributes, 'gen_ai.completion.', 'assistant')
  expect(messages?.flatMap(({ parts }) => parts)).toMatchObject([
    { type: 'tool_call', name: 'weather', arguments: { city: 'Oslo' } },
    { type: 'tool_call', name: 'weather', arguments: { city: 'Bergen' } },
  ])
})
