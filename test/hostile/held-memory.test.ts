import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

import type { Tracer } from '@opentelemetry/api'
import { TracerProvider } from '@opentelemetry/sdk-trace'
import { expect, test } from 'vitest'

import { ScoringSpanProcessor } from '../../src/processor/scoring-span-processor.ts'
import {
  agentAttributes,
  chatAttributes,
  codeScorer,
  judgeScorer,
  open,
  runAgent,
  toolAttributes,
} from '../processor/harness.ts'

const MAX_BYTES = 1024 * 1024

/** A text of 100 KB that shares no memory with others. */
const text = (index: number): string => Buffer.alloc(100_000, 65 + (index % 20)).toString('latin1')

function scored(): { readonly scoring: ScoringSpanProcessor; readonly tracer: Tracer } {
  const scoring = new ScoringSpanProcessor({ scorers: [codeScorer('c')], memoryBytes: MAX_BYTES })
  return { scoring, tracer: new TracerProvider({ spanProcessors: [scoring] }).getTracer('app') }
}

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

function heldMegabytes(): number {
  // What the first collection frees may be the last to refer to something else.
  for (let round = 0; round < 3; round += 1) collectGarbage()
  const { heapUsed, external } = process.memoryUsage()
  return (heapUsed + external) / 2 ** 20
}

const neverEnding: Readonly<Record<string, (tracer: Tracer, index: number, scoring: ScoringSpanProcessor) => void>> = {
  'has content from its start': (tracer, index) => void open(tracer, 'a', agentAttributes('a', text(index))),
  'gets content later': (tracer, index) => {
    open(tracer, 'a', agentAttributes('a')).setAttribute('gen_ai.output.messages', text(index))
  },
  'gets an event later': (tracer, index) => {
    open(tracer, 'a', agentAttributes('a')).addEvent('note', { note: text(index) })
  },
  'gets a status later': (tracer, index) => {
    open(tracer, 'a', agentAttributes('a')).setStatus({ code: 2, message: text(index) })
  },
  'gets a link later': (tracer, index) => {
    const agent = open(tracer, 'a', agentAttributes('a'))
    agent.addLink({ context: agent.spanContext(), attributes: { note: text(index) } })
  },
  'has a log record with a long name': (tracer, index, { logRecordProcessor }) => {
    logRecordProcessor.onEmit({
      spanContext: open(tracer, 'a', agentAttributes('a')).spanContext(),
      eventName: `gen_ai.${text(index)}`,
      hrTime: [0, 0],
      attributes: {},
      instrumentationScope: { name: 'app' },
    })
  },
  'has a long name': (tracer, index) => void open(tracer, text(index), agentAttributes('a')),
  'has a call that is open': (tracer, index) => {
    const agent = open(tracer, 'a', agentAttributes('a'))
    open(tracer, 'chat', chatAttributes(text(index)), agent)
  },
  'has a call with links': (tracer, index) => {
    const agent = open(tracer, 'a', agentAttributes('a'))
    const call = open(tracer, 'chat', chatAttributes(), agent)
    call.addLink({ context: agent.spanContext(), attributes: { note: text(index) } })
    call.end()
  },
  'has a call with log records that came before its end': (tracer, index, { logRecordProcessor }) => {
    const agent = open(tracer, 'a', agentAttributes('a'))
    const call = open(tracer, 'chat', chatAttributes(), agent)
    logRecordProcessor.onEmit({
      spanContext: call.spanContext(),
      eventName: 'gen_ai.user.message',
      hrTime: [0, 0],
      attributes: {},
      body: { content: text(index) },
      instrumentationScope: { name: 'app' },
    })
    call.end()
  },
}

test.each(Object.entries(neverEnding))('an agent that never ends and %s counts towards memoryBytes', (_, play) => {
  const { scoring, tracer } = scored()
  for (let index = 0; index < 100; index += 1) play(tracer, index, scoring)
  expect(scoring.ledger().runs.open).toBeLessThan(20)
})

const ended: Readonly<Record<string, (tracer: Tracer, index: number) => void>> = {
  'whose agent ended before its calls': (tracer, index) => {
    const agent = open(tracer, 'a', agentAttributes('a', text(index)))
    const call = open(tracer, 'chat', chatAttributes(), agent)
    agent.end()
    call.end()
  },
  'that were settled without a call that never ends': (tracer, index) => {
    const agent = open(tracer, 'a', agentAttributes('a', text(index)))
    open(tracer, 'execute_tool t', toolAttributes('t'), agent)
    agent.end()
  },
  'whose calls ended while other runs were open': (tracer, index) => {
    const agent = open(tracer, 'a', agentAttributes('a'))
    open(tracer, 'chat', chatAttributes(text(index)), agent).end()
    agent.end()
  },
}

test.each(Object.entries(ended))('runs %s are not held after they were scored', async (_, play) => {
  const { scoring, tracer } = scored()
  for (const name of ['b', 'c']) open(tracer, name, agentAttributes(name))
  play(tracer, 0)
  const before = heldMegabytes()
  for (let index = 0; index < 300; index += 1) play(tracer, index)
  await scoring.forceFlush()
  expect(heldMegabytes() - before).toBeLessThan(10)
  expect(scoring.ledger().runs.seen).toBe(303)
})

test('flushes that wait for a judge hold little memory, whatever their number', async () => {
  const hanging = judgeScorer('hanging', { assess: () => new Promise(() => {}) })
  const scoring = new ScoringSpanProcessor({ scorers: [hanging], shutdownTimeoutMs: 0 })
  const tracer = new TracerProvider({ spanProcessors: [scoring] }).getTracer('app')
  const flushAfterEach = async (count: number): Promise<void> => {
    for (let run = 0; run < count; run += 1) {
      runAgent(tracer)
      void scoring.forceFlush()
      await new Promise(setImmediate)
    }
  }
  await flushAfterEach(1000)
  const before = heldMegabytes()
  await flushAfterEach(2000)
  // 2,000 waits of their own would hold 10 MB.
  expect(heldMegabytes() - before).toBeLessThan(5)
  await scoring.shutdown()
})
