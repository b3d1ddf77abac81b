import { expect, it } from 'vitest'
import { agent, span, tool, trace } from '../../../test/fixtures/traceloop-spans.ts'
import type { SourceSpan } from '../../spans/source-span.ts'
import { buildRuns } from '../build-runs.ts'

function chat(spanId: string, parentSpanId: string, startTimeMs: number, asked: string, said: object): SourceSpan {
  return span(spanId, parentSpanId, [startTimeMs, startTimeMs + 1], {
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': 'openai',
    'llm.request.type': 'chat',
    'gen_ai.input.messages': JSON.stringify([{ role: 'user', parts: [{ type: 'text', content: asked }] }]),
    'gen_ai.output.messages': JSON.stringify([{ role: 'assistant', parts: [said] }]),
  })
}

function call(id: string, query: string): object {
  return { type: 'tool_call', id, name: 'ask', arguments: { query } }
}

function text(content: string): object {
  return { type: 'text', content }
}

it('puts agents that are beside their tools below them, and distinguishes tools at work at the same time by the question', () => {
  const asked = chat('c1', 'host', 2, 'Compare.', text(''))
  const both = [{ role: 'assistant', parts: [call('1', 'apples'), call('2', 'pears')] }]
  const runs = buildRuns([
    trace,
    agent('host', 'host', [1, 90]),
    { ...asked, attributes: { ...asked.attributes, 'gen_ai.output.messages': JSON.stringify(both) } },
    tool('t1', 'host', [10, 50], 'apples'),
    tool('t2', 'host', [11, 60], 'pears'),
    agent('g1', 'grower', [12, 49]),
    chat('g1c', 'g1', 13, 'apples', text('about apples')),
    agent('g2', 'grower', [12.5, 48]),
    chat('g2c', 'g2', 14, 'pears', text('about pears')),
    chat('c2', 'host', 70, 'Compare.', text('They differ.')),
  ])
  expect(runs.map((run) => [run.agent.name, run.output])).toEqual([['host', 'They differ.']])
  const [run] = runs
  expect(run?.children.map((child) => [child.agent.name, child.userInput, child.output])).toEqual([
    ['grower', 'apples', 'about apples'],
    ['grower', 'pears', 'about pears'],
  ])
  expect(run?.toolCalls.map((each) => [each.result, each.childRunId])).toEqual([
    ['about apples', run?.children[0]?.id],
    ['about pears', run?.children[1]?.id],
  ])
})

it('gives each of several calls that ask the same its own agent', () => {
  const asked = chat('c1', 'host', 2, 'Compare.', text(''))
  const both = [{ role: 'assistant', parts: [call('1', 'apples'), call('2', 'apples')] }]
  const runs = buildRuns([
    trace,
    agent('host', 'host', [1, 90]),
    { ...asked, attributes: { ...asked.attributes, 'gen_ai.output.messages': JSON.stringify(both) } },
    tool('t1', 'host', [10, 50], 'apples'),
    tool('t2', 'host', [11, 60], 'apples'),
    agent('g1', 'grower', [12, 49]),
    chat('g1c', 'g1', 13, 'apples', text('about apples')),
    agent('g2', 'grower', [12.5, 48]),
    chat('g2c', 'g2', 14, 'apples', text('about apples')),
    chat('c2', 'host', 70, 'Compare.', text('They do not differ.')),
  ])
  expect(runs).toHaveLength(1)
  expect(runs[0]?.toolCalls.map(({ childRunId }) => childRunId)).toEqual(runs[0]?.children.map(({ id }) => id))
  expect(new Set(runs[0]?.children.map(({ id }) => id)).size).toBe(2)
})

it('leaves an agent that another one hands over to in the same run', () => {
  const runs = buildRuns([
    trace,
    agent('first', 'triage', [1, 10]),
    chat('c1', 'first', 2, 'I was charged twice.', text('One moment.')),
    span('h', 'first', [8, 9], {
      'traceloop.span.kind': 'handoff',
      'gen_ai.operation.name': 'handoff',
      'gen_ai.handoff.from_agent': 'triage',
      'gen_ai.handoff.to_agent': 'Billing Agent',
    }),
    agent('second', 'Billing Agent', [11, 40]),
    chat('c2', 'second', 12, 'I was charged twice.', text('You will be refunded.')),
  ])
  expect(runs.map((run) => [run.agent.name, run.output, run.children.length])).toEqual([
    ['triage', 'You will be refunded.', 0],
  ])
  expect(runs[0]?.toolCalls.map(({ name, agentName }) => [name, agentName])).toEqual([
    ['transfer_to_billing_agent', 'triage'],
  ])
})
