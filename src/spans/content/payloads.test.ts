import { expect, it } from 'vitest'
import { replyMessages } from './payloads.ts'

function chunk(delta: object): string {
  return JSON.stringify({ id: 'c', choices: [{ index: 0, delta }] })
}

function call(index: number, name: string | undefined, given: string): object {
  const started = name === undefined ? {} : { id: `id-${index}` }
  return { tool_calls: [{ index, ...started, function: { name, arguments: given } }] }
}

it('joins the words of a stream', () => {
  const chunks = [chunk({ role: 'assistant', content: 'It is ' }), chunk({ content: '22.' }), '{"choices":[]}']
  expect(replyMessages(chunks)?.map(({ role, text }) => [role, text])).toEqual([['assistant', 'It is 22.']])
})

it('joins the arguments of parallel calls by their index', () => {
  const messages = replyMessages([
    chunk(call(0, 'add', '{"a"')),
    chunk(call(1, 'sum', '{"b":2}')),
    chunk(call(0, undefined, ':1}')),
  ])
  expect(messages?.[0]?.parts).toEqual([
    { type: 'tool_call', id: 'id-0', name: 'add', arguments: { a: 1 } },
    { type: 'tool_call', id: 'id-1', name: 'sum', arguments: { b: 2 } },
  ])
})

it('reads no answer from a list without chunks', () => {
  expect(replyMessages(['x', 1, null, { choices: [{ index: 0 }] }])).toBeUndefined()
})

it('finds replies in lists of lists, and reads no deeper ones', () => {
  const reply = { role: 'assistant', content: 'It is 22.' }
  expect(replyMessages([[reply]])?.[0]?.text).toBe('It is 22.')
  expect(replyMessages([[[[[reply]]]]])).toBeUndefined()
})
