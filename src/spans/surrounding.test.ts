import { expect, test } from 'vitest'

import { mergedSurroundings, surroundingOf } from './surrounding.ts'

test('attributes of transport, content and long texts are left out', () => {
  const surrounding = surroundingOf({
    'app.plan': 'free',
    'app.seats': 3,
    'http.route': '/chat',
    'url.path': '/chat',
    'client.address': '127.0.0.1',
    'db.system': 'sqlite',
    'gen_ai.input.messages': '[{"role":"user"}]',
    'input.value': 'My passport is X1234567.',
    'app.note': 'x'.repeat(201),
    'app.list': ['a'],
  })
  expect(surrounding).toEqual({ 'app.plan': 'free', 'app.seats': 3 })
  expect(surroundingOf({ 'http.route': '/chat' })).toBeUndefined()
})

test('the nearest span counts, and 32 attributes are kept in all', () => {
  const far = Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`app.${index}`, index]))
  const merged = mergedSurroundings([{ 'app.0': 'near' }, surroundingOf(far) ?? {}])
  expect(Object.keys(merged ?? {})).toHaveLength(32)
  expect(merged?.['app.0']).toBe('near')
})
