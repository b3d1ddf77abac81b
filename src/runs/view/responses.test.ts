import { expect, it } from 'vitest'

import { makeMessage } from '../../spans/content/messages.ts'
import type { Message } from '../../model/message.ts'
import type { TraceSpan } from '../trace-span.ts'
import { Responses } from './responses.ts'

/** A model call that counts how often its messages are read. */
class CountedModel {
  readonly inner: readonly TraceSpan[] = []
  reads = 0
  readonly #input: readonly Message[]

  constructor(input: readonly Message[]) {
    this.#input = input
  }

  get input(): readonly Message[] {
    this.reads += 1
    return this.#input
  }

  readonly output = undefined
}

it('reads the messages of each model call once, however many calls have no result', () => {
  const results = makeMessage('tool', [{ type: 'tool_call_response', id: 'other', response: 1 }])
  const counted = [[], [results], []].map((input) => new CountedModel(input))
  const models = counted as unknown as readonly TraceSpan[]
  const responses = new Responses(models, () => undefined)
  for (let position = 0; position < 1000; position += 1) {
    const asked = { type: 'tool_call', id: `call_${position}`, name: 't' } as const
    expect(responses.find({ asked, tool: undefined, step: 0, by: undefined }, position)).toBeUndefined()
  }
  expect(counted.map(({ reads }) => reads)).toEqual([0, 1, 1])
})
