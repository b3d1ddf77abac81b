import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { Trials } from '../../src/page/trials.ts'
import { folder, judged, run, trialsWith } from './judged-trials.ts'

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
