import { expect, it } from 'vitest'
import { treeSpan } from '../../../test/fixtures/source-span.ts'
import { buildRuns } from '../../runs/build-runs.ts'
import type { SourceLog, SourceSpan } from '../source-span.ts'

const scope = { name: 'gcp.vertex.agent' }

function log(spanId: string, eventName: string, content: unknown): SourceLog {
  const timeMs = spanId.charCodeAt(0)
  return {
    traceId: treeSpan('a', undefined).traceId,
    spanId,
    eventName,
    timeMs,
    attributes: {},
    body: { content },
    scope,
  }
}

/** As Go's version writes them: two calls at the same time, the first of which fails, and a span that repeats both results. */
function spans(): SourceSpan[] {
  const model = {
    'gen_ai.operation.name': 'generate_content',
    'gen_ai.request.model': 'm',
  }
  const tool = {
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': 'add',
  }
  return [
    treeSpan('a', undefined, {
      scope,
      name: 'invoke_agent helper',
      attributes: {
        'gen_ai.operation.name': 'invoke_agent',
        'gen_ai.agent.name': 'helper',
      },
    }),
    treeSpan('b', 'a', { scope, name: 'generate_content m', attributes: model }),
    treeSpan('c', 'a', {
      scope,
      name: 'execute_tool add',
      attributes: {
        ...tool,
        'gen_ai.tool.call.id': '<not specified>',
        'gcp.vertex.agent.tool_call_args': '{"a":1}',
        'gcp.vertex.agent.tool_response': '<not specified>',
      },
      status: { code: 'error', message: 'boom' },
    }),
    treeSpan('d', 'a', {
      scope,
      name: 'execute_tool add',
      attributes: {
        ...tool,
        'gen_ai.tool.call.id': '<not specified>',
        'gcp.vertex.agent.tool_call_args': '{"a":2}',
        'gcp.vertex.agent.tool_response': '{"result":"<not specified>"}',
      },
    }),
    treeSpan('e', 'a', {
      scope,
      name: 'execute_tool (merged)',
      attributes: {
        ...tool,
        'gen_ai.tool.name': '(merged tools)',
        'gcp.vertex.agent.tool_response': '{"x":1}',
      },
    }),
    treeSpan('f', 'a', { scope, name: 'generate_content m', attributes: model }),
  ]
}

it('treats placeholders in log records and on tools as absent', () => {
  const logs = ['b', 'f'].flatMap((spanId) =>
    ['gen_ai.system.message', 'gen_ai.user.message', 'gen_ai.choice'].map((name) => log(spanId, name, '<elided>')),
  )
  const [run] = buildRuns(spans(), { logs })
  expect([run?.userInput, run?.systemInstructions, run?.output]).toEqual([undefined, undefined, undefined])
  const setting = 'OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true'
  expect(run?.missing).toContainEqual({
    what: 'input',
    why: 'not-captured',
    switch: setting,
  })
  expect(run?.missing).toContainEqual({
    what: 'output',
    why: 'not-captured',
    switch: setting,
  })
  const calls = run?.toolCalls.map(({ id, arguments: given, result, status }) => ({
    id,
    given,
    result,
    status,
  }))
  expect(calls).toEqual([
    { id: undefined, given: { a: 1 }, result: undefined, status: 'error' },
    { id: undefined, given: { a: 2 }, result: undefined, status: 'ok' },
  ])
})

it("reads Go's log records, whose contents name the role, without the texts that ADK adds", () => {
  const user = { role: 'user', parts: [{ text: 'Sum?' }] }
  const call = {
    role: 'model',
    parts: [{ functionCall: { name: 'add', args: { a: 1 } } }],
  }
  const instructions = 'Be brief.\n\nYou are an agent. Your internal name is "helper".'
  const [run] = buildRuns(spans(), {
    logs: [
      log('b', 'gen_ai.system.message', instructions),
      log('b', 'gen_ai.user.message', user),
      log('b', 'gen_ai.choice', call),
      log('f', 'gen_ai.system.message', instructions),
      log('f', 'gen_ai.user.message', user),
      log('f', 'gen_ai.user.message', call),
      log('f', 'gen_ai.choice', {
        role: 'model',
        parts: [{ text: 'It is 3.' }],
      }),
    ],
  })
  expect(run).toMatchObject({
    userInput: 'Sum?',
    systemInstructions: 'Be brief.',
    output: 'It is 3.',
  })
})

function statusOfCall(attributes: Readonly<Record<string, unknown>>): readonly string[] {
  return buildRuns([
    treeSpan('a', undefined, { scope, name: 'agent_run [helper]' }),
    treeSpan('b', 'a', { scope, name: 'call_llm', attributes }),
  ]).map(({ status }) => status)
}

it('takes no call for failed whose reply a collector removed', () => {
  const call = { 'gcp.vertex.agent.event_id': 'e', 'gen_ai.request.model': 'm', 'gen_ai.usage.output_tokens': 5 }
  expect(statusOfCall(call)).not.toContain('error')
  expect(statusOfCall({})).toEqual(['error'])
})
