import { describe, expect, it } from 'vitest'

import { calls, score } from '../../../test/fixtures/code-runs.ts'
import { createRunLimitsScorer } from './run-limits.ts'

describe('run limits', () => {
  const step = { toolCallIds: [], usage: {}, finishReasons: [], status: 'ok' } as const
  const run = {
    steps: [step, step, step],
    toolCalls: calls('ab'),
    usage: { inputTokens: 100 },
    startTimeMs: 1000,
    endTimeMs: 3000,
  }

  it('gives the share of limits that were kept, and names the others and unknown values', () => {
    const scorer = createRunLimitsScorer({
      maxSteps: 2,
      maxToolCalls: 2,
      maxInputTokens: 200,
      maxOutputTokens: 5,
      maxDurationMs: 1500,
    })
    expect(score(scorer, run)).toMatchObject({
      value: 0.5,
      explanation: 'Over the limit: maxSteps 2, took 3, maxDurationMs 1500, took 2000. Not recorded: maxOutputTokens.',
    })
    expect(score(createRunLimitsScorer({ maxSteps: 3 }), run)).toMatchObject({ value: 1, label: 'pass' })
  })

  it('is skipped if no value is known, such as the duration of a run made from messages', () => {
    expect(score(createRunLimitsScorer({ maxDurationMs: 5 }))).toMatchObject({
      status: 'skipped',
      reason: 'no-content',
    })
  })

  it('refuses to be made without a limit, or with an invalid one', () => {
    expect(() => createRunLimitsScorer({})).toThrow(/at least one of maxSteps/)
    expect(() => createRunLimitsScorer({ maxSteps: -1 })).toThrow(/maxSteps to be a non-negative number/)
  })
})
