import { ROOT_CONTEXT, trace } from '@opentelemetry/api'
import { BasicTracerProvider } from '@opentelemetry/sdk-trace-base'
import { expect, it } from 'vitest'
import { ScoringSpanProcessor } from '../../src/processor/scoring-span-processor.ts'
import { createAnswerPresentScorer } from '../../src/scorers/code/answer-present.ts'

/** Milliseconds of processor time that a chain of open spans takes, each below the one before, with an agent at its end. */
function chainMs(length: number): number {
  const processor = new ScoringSpanProcessor({ scorers: [createAnswerPresentScorer()] })
  const tracer = new BasicTracerProvider({ spanProcessors: [processor] }).getTracer('application')
  const before = process.cpuUsage()
  let context = ROOT_CONTEXT
  const spans = Array.from({ length }, () => {
    const span = tracer.startSpan('step', {}, context)
    context = trace.setSpan(ROOT_CONTEXT, span)
    return span
  })
  const attributes = { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': 'deep' }
  tracer.startSpan('invoke_agent deep', { attributes }, context).end()
  for (const span of spans.toReversed()) span.end()
  const { user, system } = process.cpuUsage(before)
  expect(processor.ledger().runs.seen).toBe(1)
  return (user + system) / 1000
}

function leastMs(length: number): number {
  return Math.min(...Array.from({ length: 3 }, () => chainMs(length)))
}

it('Open spans below one another by the ten thousand take time in proportion', () => {
  leastMs(4_000)
  // Eight times as many; a search of the whole chain at each start would take 64 times as long.
  expect(leastMs(32_000)).toBeLessThan(25 * leastMs(4_000))
})
