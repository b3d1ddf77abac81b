import { expect, it } from 'vitest'
import { sourceSpan } from '../../../test/fixtures/source-span.ts'
import { buildRuns } from '../build-runs.ts'

const AGENT = { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': 'w' }
const ASKED = {
  role: 'assistant',
  parts: [{ type: 'tool_call', id: 'c1', name: 'delete_file', arguments: { path: 'a' } }],
}
const QUESTION = { role: 'user', parts: [{ type: 'text', content: 'Delete a.' }] }

const chat = (input: readonly unknown[], output: unknown) => ({
  'gen_ai.operation.name': 'chat',
  'gen_ai.input.messages': JSON.stringify(input),
  'gen_ai.output.messages': JSON.stringify([output]),
})

const TEXTS = [
  'The tool call was denied.',
  'Tool execution was not approved.',
  'Tool execution denied.',
  'User rejected the tool call for `delete_file` with id c1',
]

it.each(TEXTS)('takes a call for rejected that was answered with %j by the library', (text) => {
  const answer = { role: 'tool', parts: [{ type: 'tool_call_response', id: 'c1', response: text }] }
  const said = { role: 'assistant', parts: [{ type: 'text', content: 'I did not.' }] }
  const spans = [
    sourceSpan({ spanId: 'a', endTimeMs: 9, attributes: AGENT }),
    sourceSpan({ spanId: 'm1', parentSpanId: 'a', attributes: chat([QUESTION], ASKED) }),
    sourceSpan({ spanId: 'm2', parentSpanId: 'a', startTimeMs: 5, attributes: chat([QUESTION, ASKED, answer], said) }),
  ]
  const [run] = buildRuns(spans)
  expect(run).toMatchObject({ status: 'ok', output: 'I did not.' })
  expect(run?.toolCalls).toMatchObject([{ name: 'delete_file', status: 'rejected', result: undefined }])
})

it.each(TEXTS)('takes a call for rejected whose span has the result %j', (text) => {
  const tool = {
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': 'delete_file',
    'gen_ai.tool.call.id': 'c1',
  }
  const spans = [
    sourceSpan({ spanId: 'a', endTimeMs: 9, attributes: AGENT }),
    sourceSpan({ spanId: 'm1', parentSpanId: 'a', attributes: chat([QUESTION], ASKED) }),
    sourceSpan({
      spanId: 't',
      parentSpanId: 'a',
      startTimeMs: 3,
      attributes: { ...tool, 'gen_ai.tool.call.result': text },
    }),
  ]
  expect(buildRuns(spans)[0]?.toolCalls).toMatchObject([{ status: 'rejected', result: undefined }])
})
