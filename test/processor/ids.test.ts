import { propagation, ROOT_CONTEXT, trace } from '@opentelemetry/api'
import type { Context } from '@opentelemetry/api'
import { expect, test } from 'vitest'

import type { AgentRun } from '../../src/model/agent-run.ts'
import { ScoringSpanProcessor } from '../../src/processor/scoring-span-processor.ts'
import { codeScorer, createPipeline, open } from './harness.ts'

const AGENT = { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': 'w' }

/** The ids of the run of an agent that starts in the context, below a request with some attributes. */
async function idsOfRun(
  request: Readonly<Record<string, string>>,
  entries: Readonly<Record<string, string>>,
  agentAttributes: Readonly<Record<string, string>> = {},
) {
  const runs: AgentRun[] = []
  const scorer = codeScorer('seen', {
    assess: (run) => {
      runs.push(run)
      return { status: 'scored', value: 1 }
    },
  })
  const { tracer } = await createPipeline({
    processors: (batch) => [new ScoringSpanProcessor({ scorers: [scorer] }), batch],
  })
  const server = open(tracer, 'POST /chat', request)
  const baggage = propagation.createBaggage(
    Object.fromEntries(Object.entries(entries).map(([key, value]) => [key, { value }])),
  )
  const context: Context = trace.setSpan(propagation.setBaggage(ROOT_CONTEXT, baggage), server)
  const agent = open(tracer, 'invoke_agent w', { ...AGENT, ...agentAttributes }, context)
  open(tracer, 'chat m', { 'gen_ai.operation.name': 'chat' }, trace.setSpan(context, agent)).end()
  agent.end()
  server.end()
  const [run] = runs
  return { conversationId: run?.conversationId, userId: run?.userId }
}

test('the conversation and the user of a run are found on the request around it', async () => {
  expect(await idsOfRun({ 'session.id': 's', 'user.id': 'u' }, {})).toEqual({ conversationId: 's', userId: 'u' })
})

test('the conversation and the user of a run are found in the baggage in which it started', async () => {
  expect(await idsOfRun({}, { 'gen_ai.conversation.id': 'c', 'enduser.id': 'u', other: 'x' })).toEqual({
    conversationId: 'c',
    userId: 'u',
  })
})

test('baggage counts after spans with the same name, before a less exact name, and not if it says that there is no id', async () => {
  expect(await idsOfRun({ 'session.id': 's' }, { 'session.id': 'b' })).toMatchObject({ conversationId: 's' })
  expect(await idsOfRun({ 'session.id': 's' }, { 'gen_ai.conversation.id': 'c' })).toMatchObject({
    conversationId: 'c',
  })
  expect(await idsOfRun({}, { 'session.id': 'null' })).toMatchObject({ conversationId: undefined })
})
