import { setImmediate as nextTurn } from 'node:timers/promises'

import { ROOT_CONTEXT, trace } from '@opentelemetry/api'
import { TracerProvider } from '@opentelemetry/sdk-trace'
import { expect, test } from 'vitest'

import { ScoringSpanProcessor } from '../../src/processor/scoring-span-processor.ts'
import { createToolErrorsScorer } from '../../src/scorers/code/tool-errors.ts'
import { createTrajectoryScorer } from '../../src/scorers/code/trajectory.ts'
import { LongTurns } from '../fuzz/long-turns.ts'

/** Milliseconds of processor time that one turn may take. */
const LONGEST_MS = 50
const CALLS = 8000
const EXPECTED = 300

const scorers = [
  createToolErrorsScorer(),
  createTrajectoryScorer({ expected: Array.from({ length: EXPECTED }, (_, index) => `n${index}`), mode: 'unordered' }),
]

const calls = Array.from({ length: CALLS }, (_, index) => ({
  type: 'tool_call',
  id: `c${index}`,
  name: `n${index}`,
  arguments: { index },
}))
const json = (...messages: readonly object[]): string => JSON.stringify(messages)
const asked = json({ role: 'assistant', parts: calls })
/** All results in one message: a document with more values than this would not be read. */
const answeredWith = (response: unknown): string =>
  json({ role: 'tool', parts: calls.map(({ id }) => ({ type: 'tool_call_response', id, response })) })

/** Turns in which one message with thousands of calls took longer than the limit. */
async function longTurns(limitMs: number, answered: string): Promise<readonly string[]> {
  const turns = new LongTurns(limitMs)
  const scoring = new ScoringSpanProcessor({ scorers, timeoutMs: 60_000 })
  const tracer = new TracerProvider({ spanProcessors: [scoring] }).getTracer('agents')
  const end = turns.begin('the spans')
  const agent = tracer.startSpan('invoke_agent a', { attributes: { 'gen_ai.operation.name': 'invoke_agent' } })
  const context = trace.setSpan(ROOT_CONTEXT, agent)
  for (const attributes of [
    { 'gen_ai.output.messages': asked },
    { 'gen_ai.input.messages': answered, 'gen_ai.output.messages': json({ role: 'assistant', parts: [] }) },
  ]) {
    tracer.startSpan('chat', { attributes: { 'gen_ai.operation.name': 'chat', ...attributes } }, context).end()
  }
  agent.end()
  end()
  const isPending = () => Object.values(scoring.ledger().scorers).some(({ pending }) => pending > 0)
  while (isPending()) {
    const endTurn = turns.begin('a turn')
    await nextTurn()
    endTurn()
  }
  expect(scoring.ledger().scorers).toMatchObject({ trajectory: { scored: 1 }, tool_errors: { scored: 1 } })
  await scoring.shutdown()
  return turns.report().own.map(({ text }) => text)
}

test.each([
  ['succeed', answeredWith('r')],
  ['fail', answeredWith({ type: 'error-text', value: 'no' })],
])(
  'a message with thousands of tool calls that %s, of which hundreds are expected, makes no turn long',
  async (_, answered) => {
    const before = process.threadCpuUsage()
    for (let time = 0; time < 5; time += 1) structuredClone([JSON.parse(asked), JSON.parse(answered)])
    const { user, system } = process.threadCpuUsage(before)
    // On a slow machine, everything takes longer.
    const limitMs = Math.max(LONGEST_MS, (user + system) / 1000 / 4)
    // The compilation at the first run of a process is not measured here, and on a busy machine a single turn may take long.
    await longTurns(limitMs, answered)
    const found = await longTurns(limitMs, answered)
    expect(found.length === 0 ? found : await longTurns(limitMs, answered)).toEqual([])
  },
)
