import { setImmediate as nextTurn } from 'node:timers/promises'

import { BasicTracerProvider } from '@opentelemetry/sdk-trace-base'
import { expect, test } from 'vitest'

import { ScoringSpanProcessor } from '../../src/processor/scoring-span-processor.ts'
import { createLoopScorer } from '../../src/scorers/code/loop.ts'
import { createToolErrorsScorer } from '../../src/scorers/code/tool-errors.ts'
import { LongTurns } from '../fuzz/long-turns.ts'
import { open } from '../processor/harness.ts'

/** Milliseconds of processor time that one turn, or a hundred log records, may take. */
const LONGEST_MS = 50

const operation = (name: string): Record<string, string> => ({
  'gen_ai.operation.name': name,
  'gen_ai.agent.name': 'a',
})

/** The tool calls that a model requested, as instrumentations of OpenAI write them. */
const choice = (index: number): object => ({
  index: 0,
  finish_reason: 'tool_calls',
  message: {
    tool_calls: [{ id: `c${index}`, type: 'function', function: { name: 't', arguments: '{"city":"Oslo"}' } }],
  },
})

/** Plays an agent with the given number of log records, on the given number of model spans. */
async function play(
  records: number,
  spans: number,
): Promise<{ long: readonly string[]; cpuMs: number; scored: number }> {
  const processor = new ScoringSpanProcessor({ scorers: [createLoopScorer(), createToolErrorsScorer()], settleMs: 20 })
  const tracer = new BasicTracerProvider({ spanProcessors: [processor] }).getTracer('agents')
  const turns = new LongTurns(LONGEST_MS)
  const before = process.threadCpuUsage()
  const timed = (what: string, hook: () => void): void => {
    const end = turns.begin(what)
    hook()
    end()
  }
  const agent = open(tracer, 'invoke_agent a', operation('invoke_agent'))
  const models = Array.from({ length: spans }, () => open(tracer, 'chat', operation('chat'), agent))
  for (let from = 0; from < records; from += 100) {
    timed('a hundred log records', () => {
      for (let index = from; index < from + 100; index += 1) {
        const span = models[index % spans] ?? agent
        processor.logRecordProcessor.onEmit({
          hrTime: [1, index],
          spanContext: span.spanContext(),
          instrumentationScope: { name: 'agents' },
          attributes: {},
          eventName: index % 2 === 0 ? 'gen_ai.choice' : 'gen_ai.user.message',
          body: index % 2 === 0 ? choice(index) : { content: `question ${index}` },
        })
      }
    })
  }
  for (const span of [...models, agent]) timed('the end of a span', () => span.end())
  const rows = () => Object.values(processor.ledger().scorers)
  for (let quiet = 0; quiet < 20;) {
    const end = turns.begin('a turn')
    await nextTurn()
    end()
    quiet = rows().every(({ runs, pending }) => runs > 0 && pending === 0) ? quiet + 1 : 0
  }
  const { user, system } = process.threadCpuUsage(before)
  await processor.shutdown()
  return {
    long: turns.report().own.map(({ text }) => text),
    cpuMs: (user + system) / 1000,
    scored: rows().filter((row) => row.scored > 0).length,
  }
}

test('thousands of log records on one span are read over several turns', async () => {
  await play(400, 1)
  const { long, scored } = await play(10_000, 1)
  expect(long).toEqual([])
  expect(scored).toBe(1)
})

test('a hundred thousand log records make no turn long, and their time grows in proportion', async () => {
  await play(400, 4)
  const fewer = await play(20_000, 500)
  for (const spans of [1, 500]) {
    const { long, cpuMs } = await play(100_000, spans)
    expect(long).toEqual([])
    expect(cpuMs / Math.max(100, fewer.cpuMs)).toBeLessThan(15)
  }
})
