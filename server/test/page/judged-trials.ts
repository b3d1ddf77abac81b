import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

import { afterAll } from 'vitest'

import { runOf } from '../../../test/fixtures/code-runs.ts'
import { Trials } from '../../src/page/trials.ts'
import type { TrialResult } from '../../src/page/trials.ts'

/** The folder of configurations, which is removed after the tests. */
export const folder = mkdtempSync(join(tmpdir(), 'spanscore-trials-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const DEFINE_SCORER = pathToFileURL(join(import.meta.dirname, '../../../src/scoring/define-scorer.ts')).href

/** The output of the run that is tried. */
export const secret = 'The code is 1234.'
export const run = runOf({ output: secret })

/** The trials of a configuration whose judge explains its score by the output that it saw. */
export function trialsWith(redact: string): Trials {
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

/** The result of a trial of the judge with one run. */
export async function judged(trials: Trials, tried = run): Promise<TrialResult | undefined> {
  const results: TrialResult[] = []
  await trials.run('judge', [{ run: tried, isWithheld: false }], 1, (result) => results.push(result))
  return results[0]
}
