import { ROOT_CONTEXT, trace } from '@opentelemetry/api'
import type { Attributes, Span } from '@opentelemetry/api'
import { TracerProvider } from '@opentelemetry/sdk-trace'
import { expect, it } from 'vitest'

import { ScoringSpanProcessor } from '../../src/processor/scoring-span-processor.ts'
import { defineScorer } from '../../src/scoring/define-scorer.ts'

const CALL: Attributes = {
  'gen_ai.operation.name': 'chat',
  'gen_ai.request.model': 'm',
  'gen_ai.response.id': 'response-1',
  'gen_ai.input.messages': '[{"role":"user","parts":[{"type":"text","content":"Sum?"}]}]',
  'gen_ai.output.messages': '[{"role":"assistant","parts":[{"type":"text","content":"It is 3."}]}]',
}

/** Orders in which the spans of an agent, of its call, and of the client's own record of that call may end. */
const ORDERS = [
  ['client', 'call', 'agent'],
  ['call', 'client', 'agent'],
  ['call', 'agent', 'client'],
] as const

it.each(ORDERS)('counts the second record of a call, and does not score it: %s, %s, %s', async (...order) => {
  const scored: string[] = []
  const seen = defineScorer({
    id: 'seen',
    description: 'Notes each run.',
    kind: 'code',
    assess(run) {
      scored.push(run.agent.name ?? 'a model call without an agent')
      return { status: 'scored', value: 1 }
    },
  })
  const scoring = new ScoringSpanProcessor({ scorers: [seen], settleMs: 10 })
  const provider = new TracerProvider({ spanProcessors: [scoring] })
  const framework = provider.getTracer('framework')
  const attributes = { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': 'adder' }
  const agent = framework.startSpan('invoke_agent adder', { attributes })
  const call = framework.startSpan('chat m', { attributes: CALL }, trace.setSpan(ROOT_CONTEXT, agent))
  // A client that does not see the framework's context begins its own trace.
  const client = provider.getTracer('client').startSpan('chat m', { attributes: CALL }, ROOT_CONTEXT)
  const spans: Record<(typeof order)[number], Span> = { agent, call, client }
  for (const name of order) spans[name].end()
  await scoring.forceFlush()
  expect(scored).toEqual(['adder'])
  expect(scoring.ledger().runs).toMatchObject({ duplicates: 1, open: 0 })
  await scoring.shutdown()
})

it("counts a client's own record of a call that was scored before, and does not score it", async () => {
  const scored: string[] = []
  const seen = defineScorer({
    id: 'seen',
    description: 'Notes the dialect of each run.',
    kind: 'code',
    assess(run) {
      scored.push(run.dialect)
      return { status: 'scored', value: 1 }
    },
  })
  const scoring = new ScoringSpanProcessor({ scorers: [seen], settleMs: 10 })
  const provider = new TracerProvider({ spanProcessors: [scoring] })
  const instrumented = provider.getTracer('instrumentation').startSpan('chat m', { attributes: CALL }, ROOT_CONTEXT)
  const client = provider.getTracer('com.anthropic.sdk').startSpan('chat m', { attributes: CALL }, ROOT_CONTEXT)
  instrumented.end()
  await scoring.forceFlush()
  client.end()
  await scoring.forceFlush()
  expect(scored).toEqual(['gen-ai'])
  expect(scoring.ledger().runs).toMatchObject({ closed: 1, duplicates: 1, open: 0 })
  await scoring.shutdown()
})
