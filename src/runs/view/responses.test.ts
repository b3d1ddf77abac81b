import { expect, it } from 'vitest'

import { makeMessage } from '../../spans/content/messages.ts'
import type { Message, ToolCallPart } from '../../model/message.ts'
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

function call(city: string): ToolCallPart {
  return { type: 'tool_call', id: 'call_0', name: 'weather', arguments: { city } }
}

function answer(response: string): Message {
  return makeMessage('tool', [{ type: 'tool_call_response', id: 'call_0', response }])
}

it('gives each round of calls its own result if a model numbers its calls anew in each round', () => {
  const asked = [call('Oslo'), call('Lima')]
  const [first, second] = asked.map((part) => makeMessage('assistant', [part]))
  if (first === undefined || second === undefined) throw new Error('no messages')
  // The history that the run was given has the same id.
  const history = [makeMessage('assistant', [call('Rome')]), answer('R'), makeMessage('user', [])]
  const inputs = [history, [...history, first, answer('O')], [...history, first, answer('O'), second, answer('L')]]
  const models = inputs.map((input) => new CountedModel(input)) as unknown as readonly TraceSpan[]
  const calls = asked.map((part, step) => ({ asked: part, tool: undefined, step, by: undefined }))
  const responses = new Responses(models, () => undefined, calls)
  expect(calls.map((each, position) => responses.find(each, position)?.response)).toEqual(['O', 'L'])
  const [only] = calls.slice(1)
  const last = new Responses(models, () => undefined, calls.slice(1))
  expect(only && last.find(only, 0)?.response).toBe('L')
})
