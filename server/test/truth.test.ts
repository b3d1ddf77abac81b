import { readOtlpJson } from 'spanscore/engine'
import { expect, it } from 'vitest'

import { expectedScores } from './scale/expected-scores.ts'
import { recordedRuns } from './scale/traffic.ts'

const scenarios = recordedRuns().filter(({ library }) => library.startsWith('python-'))

it('lets every log record of a run change what a scorer says, so that tests with workers notice a lost one', async () => {
  expect(scenarios).toHaveLength(1)
  for (const { traces, logs } of scenarios) {
    const spans = readOtlpJson(traces)?.spans ?? []
    const records = readOtlpJson(logs)?.logs ?? []
    expect(records.length).toBeGreaterThan(1)
    const whole = [...(await expectedScores(spans, records))]
    expect(whole).toHaveLength(1)
    for (const lost of records) {
      const rest = records.filter((record) => record !== lost)
      expect([...(await expectedScores(spans, rest))]).not.toEqual(whole)
    }
  }
})
