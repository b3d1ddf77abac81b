import { describe, expect, it } from 'vitest'

import type { AgentRun } from '../src/model/agent-run.ts'
import { buildRuns } from '../src/runs/build-runs.ts'
import { createAnswerPresentScorer } from '../src/entries/scorers.ts'
import type { SourceSpan } from '../src/spans/source-span.ts'
import { orderOf } from './corpus/hooks-order.ts'
import { replay } from './corpus/replay.ts'
import { treeSpan } from './fixtures/source-span.ts'

const asked = JSON.stringify([{ role: 'user', parts: [{ type: 'text', content: 'delete x' }] }])
const call = { type: 'tool_call', id: 'c1', name: 'delete_file', arguments: { path: 'x' } }
const calls = JSON.stringify([{ role: 'assistant', parts: [call] }])

function span(
  id: string,
  parent: string | undefined,
  scope: string,
  attributes: Record<string, unknown>,
  more: Partial<SourceSpan> = {},
): SourceSpan {
  const { 'gen_ai.operation.name': operation, 'gen_ai.tool.name': tool = 'files' } = attributes
  const name = [operation, tool].join(' ')
  const endTimeMs = parent === undefined ? 900 : id.charCodeAt(0) + 0.5
  return treeSpan(id, parent, { name, scope: { name: scope }, attributes, endTimeMs, ...more })
}

function run(scope: string, agent: Partial<SourceSpan>, tool?: Partial<SourceSpan>): readonly SourceSpan[] {
  const model = { 'gen_ai.operation.name': scope === 'gcp.vertex.agent' ? 'generate_content' : 'chat' }
  const executed = {
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': 'delete_file',
    'gen_ai.tool.call.id': 'c1',
  }
  return [
    span(
      'a',
      undefined,
      scope,
      { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': 'files', ...agent.attributes },
      rest(agent),
    ),
    span('b', 'a', scope, {
      ...model,
      'gen_ai.request.model': 'm',
      'gen_ai.input.messages': asked,
      'gen_ai.output.messages': calls,
      'gen_ai.usage.output_tokens': 1,
    }),
    ...(tool === undefined ? [] : [span('c', 'a', scope, { ...executed, ...tool.attributes }, rest(tool))]),
  ]
}

function rest({ status, events }: Partial<SourceSpan>): Partial<SourceSpan> {
  return { ...(status !== undefined && { status }), ...(events !== undefined && { events }) }
}

const interrupted = {
  status: { code: 'error', message: "(Interrupt(value={'path': 'x'}, id='i'),)" },
  events: [{ name: 'exception', timeMs: 99, attributes: { 'exception.type': 'langgraph.errors.GraphInterrupt' } }],
} as const

const choice = {
  name: 'gen_ai.choice',
  timeMs: 900,
  attributes: { message: "[{'id': 'v1:tool_call:c1:u', 'name': 'approval'}]", finish_reason: 'interrupt' },
}

const deferred = JSON.stringify({
  calls: [],
  approvals: [{ tool_name: 'delete_file', args: '{"path":"x"}', tool_call_id: 'c1', part_kind: 'tool-call' }],
  metadata: {},
})

const ADK_ASKS = '{"error":"This tool call requires confirmation, please approve or reject."}'

const WAITING: readonly (readonly [string, readonly SourceSpan[]])[] = [
  ['an interrupt of LangGraph in a tool', run('opentelemetry.instrumentation.genai.langchain', {}, interrupted)],
  ['an interrupt of Strands', run('strands.telemetry.tracer', { events: [choice] }, {})],
  [
    "a confirmation of Google's ADK",
    run('gcp.vertex.agent', {}, { attributes: { 'gen_ai.tool.call.result': ADK_ASKS } }),
  ],
  ['deferred tools of Pydantic AI', run('pydantic-ai', { attributes: { final_result: deferred } })],
  ['a call without a span, in an agent that has ended', run('agent_framework', {})],
]

describe('a run that waits for a person or a client', () => {
  it.each(WAITING)('says so after %s', async (_title, spans) => {
    for (const runs of [buildRuns(spans.toReversed()), replay(spans, [], orderOf(endingInOrder(spans), 'all'))]) {
      expect(runs).toHaveLength(1)
      expect(outline(runs)).toMatchObject({ status: 'waiting', output: undefined, calls: [['delete_file', 'waiting']] })
      expect(runs[0]?.missing.map(({ what }) => what)).not.toContain('output')
      await expect(createAnswerPresentScorer().run(runs[0] ?? raise())).rejects.toThrow('waits for delete_file')
    }
  })

  it('is not one that failed, or that answered', () => {
    const failed = run('agent_framework', { status: { code: 'error', message: 'timeout' } })
    expect(outline(buildRuns(failed)).status).toBe('error')
    const answer = JSON.stringify([{ role: 'assistant', parts: [{ type: 'text', content: 'Deleted.' }] }])
    const answered = run('agent_framework', { attributes: { 'gen_ai.output.messages': answer } })
    expect(outline(buildRuns(answered))).toMatchObject({ status: 'ok', output: 'Deleted.' })
  })
})

describe('a call that a person refused', () => {
  it("is rejected in Google's ADK", () => {
    const refused = { attributes: { 'gen_ai.tool.call.result': '{"error":"This tool call is rejected."}' } }
    expect(outline(buildRuns(run('gcp.vertex.agent', {}, refused))).calls).toEqual([['delete_file', 'rejected']])
  })

  it.each([
    ['no way', 'not-executed'],
    ['The tool call was denied.', 'rejected'],
  ])('did not run in Pydantic AI, which answers the model itself: %s', (words, status) => {
    expect(outline(buildRuns(resumed([words, undefined]))).calls).toEqual([['delete_file', status]])
  })
})

describe('a run that goes on after an answer from outside', () => {
  it.each([
    ['external', 'ok', 'Oslo'],
    ['unapproved', 'rejected', undefined],
    // The tool itself asked for an approval, or for an answer from elsewhere.
    ['function', 'unknown', 'Oslo'],
  ])('has a call of a tool of the kind %s as %s', (kind, status, result) => {
    const spans = resumed(['Oslo', undefined]).map((each) => {
      const parameters = { function_tools: [{ name: 'delete_file', kind }], output_tools: [] }
      const attributes = { ...each.attributes, model_request_parameters: JSON.stringify(parameters) }
      return { ...each, attributes }
    })
    expect(buildRuns(spans)[0]?.toolCalls).toMatchObject([{ name: 'delete_file', status, result }])
  })

  it('has its own calls only', () => {
    expect(outline(buildRuns(resumed(['deleted x', 'content of y'], 'ran')))).toMatchObject({
      status: 'ok',
      output: 'Done.',
      calls: [['delete_file', 'ok']],
    })
  })
})

/** A run of Pydantic AI that goes on with the calls of an earlier one: the second tool had returned before. */
function resumed([first, second]: readonly [string, string | undefined], ran?: 'ran'): readonly SourceSpan[] {
  const read = { type: 'tool_call', id: 'c2', name: 'read_file', arguments: { path: 'y' } }
  const before = [
    ...JSON.parse(asked),
    { role: 'assistant', parts: second === undefined ? [call] : [call, read] },
    ...(second === undefined ? [] : [answerOf('c2', second)]),
  ]
  const all = [...before, answerOf('c1', first), { role: 'assistant', parts: [{ type: 'text', content: 'Done.' }] }]
  const agent = {
    'gen_ai.operation.name': 'invoke_agent',
    'gen_ai.agent.name': 'files',
    'pydantic_ai.all_messages': JSON.stringify(all),
    'pydantic_ai.new_message_index': before.length,
    final_result: 'Done.',
  }
  const tool = {
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': 'delete_file',
    'gen_ai.tool.call.id': 'c1',
    'gen_ai.tool.call.result': first,
  }
  const model = {
    'gen_ai.operation.name': 'chat',
    'gen_ai.request.model': 'm',
    'gen_ai.input.messages': JSON.stringify(all.slice(0, -1)),
    'gen_ai.output.messages': JSON.stringify(all.slice(-1)),
  }
  return [
    span('a', undefined, 'pydantic-ai', agent),
    ...(ran === undefined ? [] : [span('b', 'a', 'pydantic-ai', tool)]),
    span('c', 'a', 'pydantic-ai', model),
  ]
}

describe('a run whose agent never ended', () => {
  it('is incomplete, and has no status, because a step without its agent has lost it', () => {
    const spans = [
      span('b', 'a', 'gen_ai', { 'gen_ai.operation.name': 'agent_step' }, { endTimeMs: 900 }),
      span('c', 'b', 'gen_ai', {
        'gen_ai.operation.name': 'chat',
        'gen_ai.request.model': 'm',
        'gen_ai.input.messages': asked,
        'gen_ai.output.messages': calls,
        'gen_ai.response.finish_reasons': ['tool-calls'],
      }),
    ]
    const [found] = buildRuns(spans)
    expect(found).toMatchObject({ status: 'unknown', complete: false })
    expect(found?.missing).toContainEqual({ what: 'output', why: 'span-lost' })
  })
})

describe("LlamaIndex's workflow", () => {
  it('is one run of agents that hand over to one another', () => {
    const scope = 'opentelemetry.instrumentation.genai.llama_index'
    const model = { 'gen_ai.operation.name': 'chat', 'gen_ai.request.model': 'm', 'gen_ai.input.messages': asked }
    const runs = buildRuns([
      span('a', undefined, scope, {
        'gen_ai.operation.name': 'invoke_workflow',
        'gen_ai.output.messages': said('Paid.'),
      }),
      span('b', 'a', scope, agentOf('triage')),
      span('c', 'b', scope, { ...model, 'gen_ai.output.messages': calls }),
      span('d', 'a', scope, agentOf('billing')),
      span('e', 'd', scope, { ...model, 'gen_ai.output.messages': said('Paid.') }),
    ])
    expect(runs.map(({ agent: { name }, output }) => [name, output])).toEqual([['triage', 'Paid.']])
  })
})

function outline([found]: readonly AgentRun[]) {
  return {
    status: found?.status,
    output: found?.output,
    calls: found?.toolCalls.map(({ name, status }) => [name, status]),
  }
}

/** Children end before their parents. */
function endingInOrder(spans: readonly SourceSpan[]): readonly SourceSpan[] {
  return spans.toSorted((left, right) => left.endTimeMs - right.endTimeMs)
}

function raise(): never {
  throw new Error('expected a run')
}

function answerOf(id: string, result: string): object {
  return { role: 'user', parts: [{ type: 'tool_call_response', id, result }] }
}

function said(text: string): string {
  return JSON.stringify([{ role: 'assistant', parts: [{ type: 'text', content: text }] }])
}

function agentOf(name: string): Record<string, unknown> {
  return { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': name }
}
