import { expect, it } from 'vitest'
import { treeSpan } from '../../../test/fixtures/source-span.ts'
import { buildRuns } from '../../runs/build-runs.ts'

/** What Rig calls an operation is the name of its span. */
const operation = (name: string, attributes: object) => ({
  name,
  attributes: { 'gen_ai.operation.name': name, ...attributes },
})

it('reads how tools of Rig (Rust) ended, and its streamed calls', () => {
  const asked = ['k1', 'k2', 'k3', 'k4'].map((id) => ({
    type: 'tool_call',
    id,
    name: 'add',
    arguments: {},
  }))
  const tool = (spanId: string, id: string, outcome: string, more: object = {}) =>
    treeSpan(
      spanId,
      'a',
      operation('execute_tool', {
        'gen_ai.tool.name': 'add',
        'gen_ai.tool.call.id': id,
        'gen_ai.tool.call.outcome': outcome,
        ...more,
      }),
    )
  const [run] = buildRuns([
    treeSpan(
      'a',
      undefined,
      operation('invoke_agent', {
        'gen_ai.agent.name': 'helper',
        'gen_ai.prompt': 'Sum?',
        'gen_ai.completion': 'It is 3.',
      }),
    ),
    treeSpan(
      'b',
      'a',
      operation('chat_streaming', {
        'gen_ai.request.model': 'm',
        'gen_ai.output.messages': JSON.stringify([{ role: 'assistant', parts: asked }]),
      }),
    ),
    tool('c', 'k1', 'success', { 'gen_ai.tool.call.result': '3' }),
    tool('d', 'k2', 'error', { 'gen_ai.tool.error.type': 'timeout' }),
    tool('e', 'k3', 'denied'),
    tool('f', 'k4', 'skipped'),
    treeSpan('g', 'a', operation('chat_streaming', { 'gen_ai.request.model': 'm' })),
  ])
  expect(run).toMatchObject({
    agent: { name: 'helper' },
    userInput: 'Sum?',
    output: 'It is 3.',
  })
  expect(run?.steps).toHaveLength(2)
  expect(run?.toolCalls.map(({ status, error }) => [status, error?.type])).toEqual([
    ['ok', undefined],
    ['error', 'timeout'],
    ['rejected', 'denied'],
    ['not-executed', undefined],
  ])
})
