import { describe, expect, it } from 'vitest'

import { flattenedMessages } from './content.ts'

describe('flattenedMessages', () => {
  it('does not take an answer of a tool without content for an empty one', () => {
    const messages = flattenedMessages(
      {
        'llm.input_messages.0.message.role': 'user',
        'llm.input_messages.0.message.content': 'Compare Tokyo and Paris.',
        'llm.input_messages.1.message.role': 'user',
        'llm.input_messages.1.message.tool_call_id': 'call_1',
      },
      'llm.input_messages.',
    )
    const parts = messages?.flatMap((message) => message.parts) ?? []
    expect(parts.filter(({ type }) => type === 'tool_call_response')).not.toContainEqual(
      expect.objectContaining({ response: [] }),
    )
  })
})
