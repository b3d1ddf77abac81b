import { expect, it } from 'vitest'

import { promptScaffold } from './build-prompt.ts'

it('contains every part of a prompt that is not a scorer’s own, and is always the same', () => {
  expect(promptScaffold()).toEqual(promptScaffold())
  const text = JSON.stringify(promptScaffold())
  for (const part of [
    'Rules:',
    'The mark is 0000',
    'Look for the word',
    'About version A of',
    'Make these lists first',
    'at least one with',
    'Reply with one JSON object',
    'notes.n',
  ]) {
    expect(text).toContain(part)
  }
})
