import { expect, test } from 'vitest'

import { flattenedMessages } from '../dialects/openinference/content.ts'
import { toMessage } from './messages.ts'

const endless: unknown[] = []
endless.length = 2 ** 32 - 1

test.each(['user', 'tool'])('the content of a %s message that is a list without an end is left out', (role) => {
  expect(toMessage({ role, content: endless })?.text).toBeUndefined()
  expect(toMessage({ role, parts: endless })?.text).toBeUndefined()
})

test('a flattened attribute that is a list without an end is left out', () => {
  const attributes = { 'p.0.message.role': 'user', 'p.0.message.content': endless }
  expect(flattenedMessages(attributes, 'p.')?.[0]?.text).toBeUndefined()
})
