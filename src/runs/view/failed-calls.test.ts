import { expect, it } from 'vitest'

import { agent, tool } from '../../../test/fixtures/gen-ai-spans.ts'
import { buildRuns } from '../build-runs.ts'

const SEATS = 'Error: not enough seats on flight HAT139'

it.each([
  ['no message', undefined, SEATS, SEATS],
  ['no reason', 'tool error', SEATS, SEATS],
  ['no reason in a sentence', 'Tool execution failed.', SEATS, SEATS],
  ['a reason', 'no such city', SEATS, 'no such city'],
  ['no reason anywhere', 'Error', undefined, 'Error'],
])('gives the result of a failed call as its error, if the span has %s', (_what, message, result, expected) => {
  const attributes = {
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': 'book',
    'error.type': 'ToolError',
    ...(result !== undefined && { 'gen_ai.tool.call.result': result }),
  }
  const status = { code: 'error', ...(message !== undefined && { message }) } as const
  const [run] = buildRuns([
    agent('a', { endTimeMs: 9 }),
    tool('t', { parentSpanId: 'a', startTimeMs: 1, endTimeMs: 2, attributes, status }),
  ])
  expect(run?.toolCalls).toMatchObject([{ status: 'error', error: { type: 'ToolError', message: expected } }])
})
