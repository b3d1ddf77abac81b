import { setImmediate as nextTurn } from 'node:timers/promises'

import { TracerProvider } from '@opentelemetry/sdk-trace'
import { expect, test } from 'vitest'

import { ScoringSpanProcessor } from '../../src/processor/scoring-span-processor.ts'
import { createAnswerPresentScorer } from '../../src/scorers/code/answer-present.ts'
import { LongTurns } from '../fuzz/long-turns.ts'
import { callInTool } from './call-in-tool.ts'

/** Milliseconds of processor time that one turn may take. */
const LONGEST_MS = 50
/** Milliseconds of the clock, for slow machines. */
const timeout = 120_000
const TOOLS = 900
const CALLS_OF_EACH = 25

/** The turns that took long while hundreds of tools without an agent were laid out. */
async function longTurns(tools: number): Promise<readonly string[]> {
  const turns = new LongTurns(LONGEST_MS)
  const runs = tools * CALLS_OF_EACH
  const scoring = new ScoringSpanProcessor({ scorers: [createAnswerPresentScorer()], queueSize: runs, settleMs: 100 })
  const tracer = new TracerProvider({ spanProcessors: [scoring] }).getTracer('app')
  for (let index = 0; index < tools; index += 1) callInTool(tracer, `${index}`, CALLS_OF_EACH)
  while (scoring.ledger().runs.closed < runs) {
    const end = turns.begin('a turn')
    await nextTurn()
    end()
  }
  await scoring.shutdown()
  return turns.report().own.map(({ text }) => text)
}

test(
  'thousands of spans without an agent, in hundreds of traces, are laid out in short turns',
  { timeout },
  async () => {
    // The compilation at the first run of a process is not measured here, and on a busy machine a single turn may take long.
    await longTurns(100)
    const found = await longTurns(TOOLS)
    expect(found.length === 0 ? found : await longTurns(TOOLS)).toEqual([])
  },
)
