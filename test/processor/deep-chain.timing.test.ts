import { ROOT_CONTEXT, trace } from '@opentelemetry/api'
import { TracerProvider } from '@opentelemetry/sdk-trace'
import { expect, it } from 'vitest'
import { ScoringSpanProcessor } from '../../src/processor/scoring-span-processor.ts'
import { createAnswerPresentScorer } from '../../src/scorers/code/answer-present.ts'

const AGENT = { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': 'deep' }
const CHAT = { 'gen_ai.operation.name': 'chat', 'gen_ai.request.model': 'm' }

/** What happens in a chain of open spans. */
interface Program {
  /** Whether a model is called at each depth, without an agent. */
  readonly callsAtEachDepth: boolean
  readonly endsOutermostFirst: boolean
}

/** Milliseconds of processor time that a chain of open spans takes, each below the previous one. */
function chainMs(length: number, { callsAtEachDepth, endsOutermostFirst }: Program): number {
  const processor = new ScoringSpanProcessor({ scorers: [createAnswerPresentScorer()] })
  const tracer = new TracerProvider({ spanProcessors: [processor] }).getTracer('application')
  const before = process.cpuUsage()
  let context = ROOT_CONTEXT
  const spans = Array.from({ length }, () => {
    const span = tracer.startSpan('step', {}, context)
    context = trace.setSpan(ROOT_CONTEXT, span)
    if (callsAtEachDepth) tracer.startSpan('chat m', { attributes: CHAT }, context).end()
    return span
  })
  if (!callsAtEachDepth) tracer.startSpan('invoke_agent deep', { attributes: AGENT }, context).end()
  for (const span of endsOutermostFirst ? spans : spans.toReversed()) span.end()
  const { user, system } = process.cpuUsage(before)
  if (!callsAtEachDepth) expect(processor.ledger().runs.seen).toBe(1)
  return (user + system) / 1000
}

/** The least time of several chains, one after the other. */
function leastMs(chains: number, length: number, program: Program): number {
  const ofAll = () => Array.from({ length: chains }, () => chainMs(length, program)).reduce((sum, ms) => sum + ms, 0)
  return Math.min(...Array.from({ length: 3 }, ofAll))
}

it.each<[string, number, Program]>([
  ['an agent at its end', 32_000, { callsAtEachDepth: false, endsOutermostFirst: false }],
  ['a model call at each depth', 1000, { callsAtEachDepth: true, endsOutermostFirst: false }],
  [
    'a model call at each depth, and the outermost ends first',
    1000,
    { callsAtEachDepth: true, endsOutermostFirst: true },
  ],
])('A chain of thousands of open spans takes time in proportion: %s', (_, length, program) => {
  leastMs(1, length / 8, program)
  // A search of the whole chain at each depth would take eight times as long as in eight chains with as many spans in all. These are
  // measured together, because collections of garbage fall into some of them only.
  expect(leastMs(1, length, program)).toBeLessThan(3 * leastMs(8, length / 8, program))
})
