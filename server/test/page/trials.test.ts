import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

import { afterAll, expect, test } from 'vitest'

import { runOf } from '../../../test/fixtures/code-runs.ts'
import { Trials } from '../../src/page/trials.ts'
import type { TrialResult } from '../../src/page/trials.ts'

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

test('a judge in a trial sees the redacted run', async () => {
  const trials = trialsWith(`(run) => ({ ...run, output: run.output.replace(/[0-9]+/g, '*') })`)
  expect(trials.scorers()).toMatchObject([{ kind: 'judge' }])
  const text = JSON.stringify(await judged(trials))
  expect(text).toContain('The code is *.')
  expect(text).not.toContain('1234')
})

test.each(['() => undefined', 'async (run) => run', '() => { throw new Error("no") }'])(
  'no judge is tried if redact is %s',
  async (redact) => {
    expect(await judged(trialsWith(redact))).toMatchObject({ runId: run.id, unavailable: expect.any(String) })
  },
)

test('trials use the configuration in effect, whatever the file holds by now', () => {
  const path = join(folder, 'changed.yaml')
  writeFileSync(path, 'scorers: [')
  const trials = new Trials(path, () => undefined, 'scorers: [loop]')
  expect(trials.scorers()).toMatchObject([{ id: 'loop' }])
  trials.change('scorers: [tool_errors]')
  expect(trials.scorers()).toMatchObject([{ id: 'tool_errors' }])
})
