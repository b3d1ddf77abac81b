import { expect, it } from 'vitest'
import { agent, chat, tool } from '../../../test/fixtures/gen-ai-spans.ts'
import { buildRuns } from '../build-runs.ts'

const CHAT = { 'gen_ai.operation.name': 'chat' }
const failed = { code: 'error', message: 'No.' } as const
const aborted = { 'error.type': 'AbortError' }
const said = {
  'gen_ai.output.messages': JSON.stringify([{ role: 'assistant', parts: [{ type: 'text', content: 'Yes.' }] }]),
}
const asked = {
  'gen_ai.output.messages': JSON.stringify([
    { role: 'assistant', parts: [{ type: 'tool_call', id: '1', name: 'search', arguments: {} }] },
  ]),
}

it.each([
  ['the agent that worked last', 'second', 'error'],
  ['an agent before it', 'first', 'ok'],
])('a run without a status of its own fails if %s failed, and not otherwise', (_, failing, status) => {
  const [run] = buildRuns([
    agent('team', { endTimeMs: 90 }),
    ...['first', 'second'].map((name, index) =>
      agent(name, {
        parentSpanId: 'team',
        startTimeMs: 10 * (index + 1),
        endTimeMs: 10 * (index + 1) + 9,
        ...(name === failing && { status: failed }),
      }),
    ),
    chat('c', { parentSpanId: 'second', startTimeMs: 22, endTimeMs: 24, attributes: { ...CHAT, ...said } }),
  ])
  expect(run?.status).toBe(status)
})

it.each([
  ['after the last model call', 20, 'aborted'],
  ['before a later model call', 2, 'ok'],
])('a run without an answer of which a tool was aborted %s', (_, startTimeMs, status) => {
  const call = tool('t', { parentSpanId: 'a', startTimeMs, endTimeMs: startTimeMs + 1, status: failed })
  const [run] = buildRuns([
    agent('a', { endTimeMs: 90, status: { code: 'ok' } }),
    chat('c', { parentSpanId: 'a', startTimeMs: 10, endTimeMs: 15, attributes: { ...CHAT, ...asked } }),
    { ...call, attributes: { ...call.attributes, ...aborted } },
  ])
  expect(run?.status).toBe(status)
})
