import { ROOT_CONTEXT, trace } from '@opentelemetry/api'
import type { Attributes, Span } from '@opentelemetry/api'
import { TracerProvider } from '@opentelemetry/sdk-trace'
import { expect, it } from 'vitest'

import { ScoringSpanProcessor } from '../../src/processor/scoring-span-processor.ts'
import { createAnswerPresentScorer } from '../../src/scorers/code/answer-present.ts'

/** LangChain by OpenInference, which writes the kind of a span at its end. */
const LANGCHAIN = '@arizeai/openinference-instrumentation-langchain'
const CHAIN = { 'openinference.span.kind': 'CHAIN', metadata: '{}' }
const NODE = { 'openinference.span.kind': 'CHAIN', metadata: '{"langgraph_node":"step"}' }
const LANGCHAIN_AGENT = { 'openinference.span.kind': 'CHAIN', metadata: '{"lc_agent_name":"step"}' }

function endAs(span: Span, kind: Attributes): void {
  span.setAttributes(kind).end()
}

it('Agents that wait for their turn are decided, also if one among them still waits for a span', async () => {
  const processor = new ScoringSpanProcessor({ scorers: [createAnswerPresentScorer()] })
  const tracer = new TracerProvider({ spanProcessors: [processor] }).getTracer(LANGCHAIN)
  const below = (parent: Span | undefined): Span =>
    tracer.startSpan('step', {}, parent === undefined ? ROOT_CONTEXT : trace.setSpan(ROOT_CONTEXT, parent))
  const top = below(undefined)
  for (let count = 0; count < 500; count += 1) endAs(below(top), LANGCHAIN_AGENT)
  const waiting = below(top)
  endAs(below(waiting), { 'openinference.span.kind': 'LLM' })
  const open = below(waiting)
  endAs(waiting, CHAIN)
  endAs(top, NODE)
  await processor.forceFlush()
  expect(processor.ledger().runs.seen).toBe(500)
  endAs(open, NODE)
  expect(processor.ledger().runs.seen).toBe(501)
})
