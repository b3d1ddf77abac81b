import { setImmediate as nextTurn } from 'node:timers/promises'

import { expect, test } from 'vitest'

import { runOf } from '../../../test/fixtures/code-runs.ts'
import { LongTurns } from '../../../test/fuzz/long-turns.ts'
import { judged, secret, trialsWith } from './judged-trials.ts'

/** Milliseconds of processor time that one turn may take. */
const LONGEST_MS = 50

test('a run of megabytes is copied for redact without a long turn of the event loop', async () => {
  const dense = JSON.stringify(Array.from({ length: 4000 }, (_, index) => ({ index, list: [1, 2, 3], text: 'x' })))
  const large = runOf({
    output: secret,
    toolCalls: Array.from({ length: 60 }, () => ({
      name: 't',
      result: JSON.parse(dense),
      status: 'ok' as const,
      step: 0,
      providerExecuted: false,
    })),
  })
  const trials = trialsWith('(run) => run')
  await judged(trials)
  const before = process.threadCpuUsage()
  JSON.parse(JSON.stringify(large))
  const copied = process.threadCpuUsage(before)
  // The limit grows with the time of the comparison, because a slow machine slows both.
  const turns = new LongTurns(Math.max(LONGEST_MS, (copied.user + copied.system) / 4000))
  const state = { isOver: false }
  const endCall = turns.begin('the call')
  const over = judged(trials, large).finally(() => (state.isOver = true))
  endCall()
  while (!state.isOver) {
    const end = turns.begin('a turn')
    await nextTurn()
    end()
  }
  expect(await over).toMatchObject({ evaluation: { score: { status: 'scored' } } })
  expect(turns.report().own).toEqual([])
})
