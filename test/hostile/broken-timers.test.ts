import { ROOT_CONTEXT } from '@opentelemetry/api'
import { BasicTracerProvider } from '@opentelemetry/sdk-trace-base'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'

import { ScoringSpanProcessor } from '../../src/processor/scoring-span-processor.ts'
import { createLoopScorer } from '../../src/scorers/code/loop.ts'
import { createRubricScorer } from '../../src/scorers/judge/rubric.ts'
import { createFakeJudge } from '../../src/testing/fake-judge.ts'
import { agentAttributes, codeScorer, judgeScorer } from '../processor/harness.ts'

const real = { setImmediate, setTimeout, clearTimeout }
const errors: unknown[] = []
const onError = (error: unknown): void => void errors.push(error)

beforeEach(() => {
  errors.length = 0
  process.on('unhandledRejection', onError)
  process.on('uncaughtException', onError)
})

afterEach(() => {
  Object.assign(globalThis, real)
  process.off('unhandledRejection', onError)
  process.off('uncaughtException', onError)
})

function boom(): never {
  throw new Error('of the host')
}

/** What a host may have done to the timers of the process. */
const breakages: Readonly<Record<string, () => object>> = {
  'setImmediate throws': () => ({ setImmediate: boom }),
  'setImmediate calls back and throws': () => ({
    setImmediate: (run: () => void) => {
      real.setImmediate(run)
      boom()
    },
  }),
  'setImmediate calls back before it returns': () => ({ setImmediate: (run: () => void) => run() }),
  'setTimeout throws': () => ({ setTimeout: boom }),
  'clearTimeout throws': () => ({ clearTimeout: boom }),
  'setTimeout gives nothing': () => ({
    setTimeout: (run: () => void, ms: number) => void real.setTimeout(run, ms),
  }),
  'all of them throw': () => ({ setImmediate: boom, setTimeout: boom, clearTimeout: boom }),
}

/** The moment at which the timers are broken. */
const moments = ['before the processor is made', 'before the spans', 'after the spans', 'before the shutdown'] as const

describe.each(Object.entries(breakages))('if %s', (_, breakage) => {
  test.each(moments)(
    '%s, nothing is thrown into the application, and nothing is pending after a shutdown',
    async (when) => {
      const breakAt = (moment: string): void => {
        if (moment === when) Object.assign(globalThis, breakage())
      }
      breakAt('before the processor is made')
      const processor = new ScoringSpanProcessor({
        scorers: [
          createLoopScorer(),
          codeScorer('later', { assess: async () => ({ status: 'scored', value: 1 }) }),
          judgeScorer('judged'),
          createRubricScorer({ model: createFakeJudge('lenient'), criteria: [{ id: 'a', question: 'Is it good?' }] }),
        ],
        redact: (run) => run,
        maxSyncBytes: 2000,
        timeoutMs: 500,
        flushTimeoutMs: 500,
        shutdownTimeoutMs: 500,
        next: { onStart() {}, onEnd() {}, async forceFlush() {}, async shutdown() {} },
      })
      const tracer = new BasicTracerProvider({ spanProcessors: [processor] }).getTracer('agents')
      breakAt('before the spans')
      for (const answer of ['Sunny.', 'Sunny. '.repeat(1000)]) {
        tracer.startSpan('agent', { attributes: agentAttributes('a', 'What?', answer) }, ROOT_CONTEXT).end()
      }
      breakAt('after the spans')
      await processor.forceFlush()
      breakAt('before the shutdown')
      tracer.startSpan('agent', { attributes: agentAttributes('a') }, ROOT_CONTEXT).end()
      await processor.shutdown()
      Object.assign(globalThis, real)
      await new Promise((resolve) => setTimeout(resolve, 20))
      const { scorers } = processor.ledger()
      for (const [id, row] of Object.entries(scorers)) {
        expect([id, row.pending, row.runs, row.scored + row.skipped + row.failed]).toEqual([id, 0, 3, 3])
      }
      expect(errors).toEqual([])
    },
  )
})
