import { expect, it } from 'vitest'
import { fromRolePrefixes } from './role-prefixes.ts'

const rolesAndTexts = (text: string) => fromRolePrefixes(text)?.map((message) => [message.role, message.text])

it('splits a conversation that was written as one text', () => {
  expect(rolesAndTexts('developer: Be brief.\nIn French.\nuser: Hi\nassistant: None\ntool: {"a": 1}')).toEqual([
    ['system', 'Be brief.\nIn French.'],
    ['user', 'Hi'],
    // It called a tool without a word, which is what Python's `None` says.
    ['assistant', undefined],
    ['tool', undefined],
  ])
  expect(fromRolePrefixes('user: Hi\ntool: {"a": 1}')?.at(-1)?.parts).toEqual([
    { type: 'tool_call_response', response: { a: 1 } },
  ])
  expect(rolesAndTexts('user: Hi\nassistant: ')).toEqual([['user', 'Hi']])
})

it('does not change texts that do not begin with a role', () => {
  for (const text of ['', 'Hi', 'users: Hi', 'user:Hi', 'Say\nuser: Hi', 'constructor: x']) {
    expect(fromRolePrefixes(text)).toBeUndefined()
  }
})

it('ends on long texts, on which a search back from each place would not', { timeout: 60_000 }, () => {
  for (const text of ['user: ' + '\n'.repeat(2_000_000), 'user: a\n'.repeat(100_000)]) {
    expect(() => fromRolePrefixes(text)).not.toThrow()
  }
})
