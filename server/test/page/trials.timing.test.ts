import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'

import { afterAll, expect, test } from 'vitest'

import { runOf } from '../../../test/fixtures/code-runs.ts'
import { LongTurns } from '../../../test/fuzz/long-turns.ts'
import { Trials } from '../../src/page/trials.ts'
import type { TrialResult } from '../../src/page/trials.ts'

/** Milliseconds of processor time that one turn may take. */
const LONGEST_MS = 50

const folder = mkdtempSync(join(tmpdir(), 'spanscore-trials-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const DEFINE_SCORER = pathToFileURL(join(import.meta.dirname, '../../../src/scoring/define-scorer.ts')).href

const secret = 'The code is 1234.'
const run = runOf({ output: secret })

/** The trials of a configuration whose judge explains its score by the output that it saw. */
function trialsWith(redact: string): Trials {
  const path = join(folder, `${Math.random()}.mjs`)
  writeFileSync(
    path,
    `import { defineScorer } from ${JSON.stringify(DEFINE_SCORER)}
     const judge = defineScorer({
       id: 'judge', description: 'd', kind: 'judge',
       judge: { model: 'p/m', priced: true, estimate: () => ({ calls: 1, tokens: 1 }), unavailable: () => undefined },
       assess: async (run) => ({ status: 'scored', value: 1, explanation: run.output }),
     })
     export default { scorers: [judge], redact: ${redact} }`,
  )
  return new Trials(path, () => undefined)
}

async function judged(trials: Trials, tried = run): Promise<TrialResult | undefined> {
  const results: TrialResult[] = []
  await trials.run('judge', [{ run: tried, isWithheld: false }], 1, (result) => results.push(result))
  return results[0]
}

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
