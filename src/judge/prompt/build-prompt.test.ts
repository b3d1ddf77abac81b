import { expect, it } from 'vitest'

import { promptScaffold } from './build-prompt.ts'

it('contains every part of a prompt that is not a scorer’s own, and is always the same', () => {
  expect(promptScaffold()).toEqual(promptScaffold())
  const text = JSON.stringify(promptScaffold())
  const parts = [
    'Rules:',
    'The mark is 0000',
    'Make this list',
    'Answer:',
    '"tools',
    'Reply with one JSON object',
    'notes.n',
  ]
  for (const part of parts) expect(text).toContain(part)
})
