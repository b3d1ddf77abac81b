import { expect, it } from 'vitest'

import { score } from '../../../test/fixtures/code-runs.ts'
import { createCutOffScorer } from './cut-off.ts'

const ended = (...finishReasons: readonly string[]) => ({
  steps: [{ finishReasons: ['tool_calls'] }, { finishReasons }] as never,
})

it.each([
  ['length', 'length'],
  ['max_tokens', 'length'],
  ['FinishReason.MAX_TOKENS', 'length'],
  ['max_output_tokens', 'length'],
  ['content-filter', 'filter'],
  ['SAFETY', 'filter'],
  ['guardrail_intervened', 'filter'],
])('an answer that ended by %s was cut off', (reason, verdict) => {
  expect(score(createCutOffScorer(), ended(reason))).toMatchObject({ value: 1, label: 'fail', findings: [{ verdict }] })
})

it.each(['stop', 'end_turn', 'STOP', 'COMPLETE', 'tool_calls', 'a reason of tomorrow'])('%s is no cut', (reason) => {
  expect(score(createCutOffScorer(), ended(reason))).toMatchObject({ value: 0, label: 'pass' })
})

it('without a reason, or without an end, nothing is known', () => {
  expect(score(createCutOffScorer(), ended())).toMatchObject({ reason: 'no-content' })
  expect(score(createCutOffScorer(), { ...ended('length'), status: 'error' })).toMatchObject({ reason: 'run-failed' })
})
