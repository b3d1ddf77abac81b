import { expect, it } from 'vitest'

import { promptFrame } from './prompt-scaffold.ts'

it('holds every part of a prompt that is not a scorer’s own, the same each time', () => {
  expect(promptFrame()).toEqual(promptFrame())
  const text = JSON.stringify(promptFrame())
  for (const part of [
    'Rules:',
    'The mark is 0000',
    'Control question',
    'Make these lists first',
    'at least one with',
    'Reply with one JSON object',
    'notes.n',
  ]) {
    expect(text).toContain(part)
  }
})
