import { expect, it } from 'vitest'
import { sourceSpan } from '../../../test/fixtures/source-span.ts'
import { buildRuns } from '../build-runs.ts'

const text = (role: string, content: string) => JSON.stringify([{ role, parts: [{ type: 'text', content }] }])
const CHAT = {
  'gen_ai.operation.name': 'chat',
  'gen_ai.request.model': 'm',
  'gen_ai.response.id': 'r',
  'gen_ai.input.messages': text('user', 'Oslo?'),
  'gen_ai.output.messages': text('assistant', 'Cold.'),
}
const OTHER = { 'openinference.span.kind': 'AGENT', 'agent.name': 'w' }
const AGENT = { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': 'w' }

it('gives a call of the client to the agent of another library that was at work, if the span between them is lost', () => {
  const [run, ...others] = buildRuns([
    sourceSpan({ spanId: 'a', endTimeMs: 90, attributes: OTHER }),
    sourceSpan({ spanId: 'm', parentSpanId: 'lost', startTimeMs: 5, endTimeMs: 50, attributes: CHAT }),
  ])
  expect(others).toEqual([])
  expect([run?.agent.name, run?.userInput, run?.output, run?.complete]).toEqual(['w', 'Oslo?', 'Cold.', false])
})

it('leaves a call that goes on after the agent has ended a run of its own', () => {
  const runs = buildRuns([
    sourceSpan({ spanId: 'a', endTimeMs: 30, attributes: OTHER }),
    sourceSpan({ spanId: 'm', parentSpanId: 'lost', startTimeMs: 5, endTimeMs: 50, attributes: CHAT }),
  ])
  expect(runs.length).toBe(2)
})

it.each([
  ['once, if two instrumentations write it one after the other', 'Cold.', 1],
  ['twice, if the texts differ: a server may repeat its ids', 'Warm.', 2],
])('counts one response %s', (_, said, steps) => {
  const second = { ...CHAT, 'gen_ai.output.messages': text('assistant', said) }
  const [run] = buildRuns([
    sourceSpan({ spanId: 'a', endTimeMs: 90, attributes: AGENT }),
    sourceSpan({ spanId: 'm1', parentSpanId: 'a', startTimeMs: 5, endTimeMs: 20, attributes: CHAT }),
    sourceSpan({
      spanId: 'm2',
      parentSpanId: 'a',
      startTimeMs: 40,
      endTimeMs: 50,
      scope: { name: 'other' },
      attributes: second,
    }),
  ])
  expect(run?.steps.length).toBe(steps)
})
