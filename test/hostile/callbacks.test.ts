import { TracerProvider } from '@opentelemetry/sdk-trace'
import type { ReadableSpan } from '@opentelemetry/sdk-trace'
import { describe, expect, test } from 'vitest'

import { ScoringSpanProcessor } from '../../src/processor/scoring-span-processor.ts'
import { codeScorer, expectBalanced, judgeScorer, runAgent } from '../processor/harness.ts'

const PLACES = ['onScore', 'when', 'redact', 'a scorer', 'a deferred scorer', 'a judge', 'next.onEnd'] as const

/** Runs an agent on a pipeline that is called from within one of its own callbacks. */
async function callWithin(place: (typeof PLACES)[number], how: 'shutdown' | 'forceFlush') {
  const handedOn: ReadableSpan[] = []
  const call = (at: string): Promise<void> => (at === place ? scoring[how]() : Promise.resolve())
  const scored = { status: 'scored', value: 1 } as const
  const scorers = [
    codeScorer('exact', {
      assess: () => {
        void call('a scorer')
        return scored
      },
    }),
    codeScorer('later', { inline: false, assess: async () => call('a deferred scorer').then(() => scored) }),
    judgeScorer('fitting', { assess: async () => call('a judge').then(() => scored) }),
  ]
  const scoring: ScoringSpanProcessor = new ScoringSpanProcessor({
    scorers: scorers.map((scorer) => ({
      scorer,
      when: () => {
        void call('when')
        return true
      },
    })),
    timeoutMs: 200,
    flushTimeoutMs: 100,
    shutdownTimeoutMs: 100,
    onScore: () => void call('onScore'),
    redact: (run) => {
      void call('redact')
      return run
    },
    next: {
      onStart: () => undefined,
      onEnd: (span: ReadableSpan) => {
        handedOn.push(span)
        void call('next.onEnd')
      },
      forceFlush: () => Promise.resolve(),
      shutdown: () => Promise.resolve(),
    },
  })
  runAgent(new TracerProvider({ spanProcessors: [scoring] }).getTracer('agents'))
  await scoring.forceFlush()
  await scoring.shutdown()
  return { ledger: scoring.ledger(), handedOn }
}

describe.each(['shutdown', 'forceFlush'] as const)('%s', (how) => {
  test.each(PLACES)('called within %s loses no span, and leaves no score pending', async (place) => {
    const { ledger, handedOn } = await callWithin(place, how)
    expectBalanced(ledger)
    for (const row of Object.values(ledger.scorers)) expect(row).toMatchObject({ pending: 0, failed: 0 })
    expect(new Set(handedOn).size).toBe(handedOn.length)
    expect(handedOn.map(({ name }) => name)).toContain('invoke_agent weather-agent')
  })
})
