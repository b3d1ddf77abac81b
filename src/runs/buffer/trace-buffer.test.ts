import { trace } from '@opentelemetry/api'
import { TracerProvider } from '@opentelemetry/sdk-trace'
import { expect, it } from 'vitest'

import { withoutPause } from '../../scoring/background.ts'
import { ProcessSpans } from './process-spans.ts'
import { TraceBuffer } from './trace-buffer.ts'

const SETTLE_MS = 1000

/** A buffer with the calls of three traces that no agent made. */
function createBuffer() {
  const settled: string[] = []
  let nowMs = 0
  let tickMs = 0
  const buffer = new TraceBuffer({
    maxSpansPerRun: 100,
    memoryBytes: 1e9,
    maxIdleMs: 1e9,
    settleMs: SETTLE_MS,
    maxSyncBytes: 1e6,
    // If time passes between two looks at the clock, each slice of work is over after one step.
    now: () => (nowMs += tickMs),
    isWanted: () => true,
    countsNested: false,
    rescore: false,
    onSettled: ({ traceId }) => void settled.push(traceId),
    onEvicted: () => undefined,
    onDuplicate: () => undefined,
    onLate: () => undefined,
    onWaiting: () => undefined,
  })
  const spans = new ProcessSpans(buffer, 0)
  const provider = new TracerProvider({
    spanProcessors: [
      {
        onStart: (span, context) => void spans.start(span, trace.getSpan(context)),
        onEnd: (span) => {
          spans.ending(span)
          spans.ended(span)
        },
        forceFlush: async () => undefined,
        shutdown: async () => undefined,
      },
    ],
  })
  for (const question of ['one', 'two', 'three']) {
    const input = JSON.stringify([{ role: 'user', parts: [{ type: 'text', content: question }] }])
    const attributes = { 'gen_ai.operation.name': 'chat', 'gen_ai.input.messages': input }
    provider.getTracer('app').startSpan('chat', { attributes }).end()
  }
  nowMs += 2 * SETTLE_MS
  tickMs = 1000
  return { buffer, settled }
}

it('a shutdown passes on all runs, although a sweep has begun to', () => {
  const { buffer, settled } = createBuffer()
  withoutPause(buffer.settleAgents())
  while (settled.length === 0) buffer.sweep()
  expect(settled).toHaveLength(1)
  withoutPause(buffer.giveUpWaiting())
  expect(settled).toHaveLength(3)
  buffer.sweep()
  expect(new Set(settled).size).toBe(settled.length)
})

it('a flush passes on all runs, although a sweep begins between its steps', () => {
  const { buffer, settled } = createBuffer()
  const steps = buffer.flush()
  while (settled.length === 0) buffer.sweep()
  withoutPause(steps)
  expect(settled).toHaveLength(3)
})
