import { buildRuns, readOtlpJson } from 'spanscore/engine'
import { expect, it } from 'vitest'

import { asShown } from '../../src/page/run-page.ts'
import { summarise } from '../../src/page/store/run-summary.ts'
import type { RunSummary } from '../../src/page/store/run-summary.ts'
import { otlp, record } from '../browser/made-run.ts'
import type { MadeRun } from '../browser/made-run.ts'

function summaryOf(run: MadeRun): RunSummary {
  const { spans } = readOtlpJson(otlp(record(run, 1_790_000_000_000).spans, 'shop'))!
  const [built] = buildRuns(spans)
  return summarise(built!)
}

const question = { agent: 'clerk', question: 'Where is my order?', answer: 'On its way.' }

it('computes the cost of the model calls of a run at list prices', () => {
  const { costUsd, inputTokens, outputTokens, model } = summaryOf({ ...question, model: 'gpt-5-mini-2025-08-07' })
  expect(model).toBe('gpt-5-mini-2025-08-07')
  expect(costUsd).toBeCloseTo((inputTokens! * 0.25 + outputTokens! * 2) / 1e6, 9)
  expect(costUsd).toBeGreaterThan(0)
})

it('has no cost if a model has no known price', () => {
  expect(summaryOf({ ...question, model: 'our-own-model' }).costUsd).toBeNull()
})

it('shows marks that would turn the text beside them, in the list and on the page of a run', () => {
  const agent = 'pay \u202e\u2066'
  expect(summaryOf({ ...question, agent, answer: 'On \u2066its way.' })).toMatchObject({
    agent: 'pay [U+202E][U+2066]',
    answer: 'On [U+2066]its way.',
  })
  expect(asShown({ toolCalls: [{ name: agent, arguments: { [agent]: 'שלום \u200f!' } }] })).toEqual({
    toolCalls: [{ name: 'pay [U+202E][U+2066]', arguments: { 'pay [U+202E][U+2066]': 'שלום \u200f!' } }],
  })
})
