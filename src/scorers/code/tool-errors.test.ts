import { describe, expect, it } from 'vitest'

import { call, score } from '../../../test/fixtures/code-runs.ts'
import { createToolErrorsScorer } from './tool-errors.ts'

const failed = (name: string) => call(name, {}, { status: 'error', error: { message: 'no such city' } })

describe('tool errors', () => {
  const toolCalls = [failed('a'), call('a'), failed('b'), call('c', {}, { status: 'unknown' })]

  it('gives the share of calls that failed, and says from how many the run recovered', () => {
    expect(score(createToolErrorsScorer(), { toolCalls })).toMatchObject({
      value: 2 / 3,
      explanation: '2 of 3 calls failed, and the run recovered from 1 of them; the first: a (no such city).',
      findings: [
        {
          text: 'a',
          verdict: 'recovered',
          rating: 'open',
          reason: 'no such city',
          places: [{ in: 'result', index: 0 }],
        },
        { text: 'b', verdict: 'failed', rating: 'bad', reason: 'no such city', places: [{ in: 'result', index: 2 }] },
      ],
      details: { calls: 3, recovered: 1 },
    })
    expect(score(createToolErrorsScorer({ countRecovered: false }), { toolCalls })).toMatchObject({ value: 1 / 3 })
  })

  it('counts a refused call, and not one that waits for a client', () => {
    const refused = call('a', {}, { status: 'not-executed', error: { type: 'AI_InvalidToolInputError' } })
    expect(score(createToolErrorsScorer(), { toolCalls: [refused] })).toMatchObject({ value: 1 })
    const waiting = call('a', {}, { status: 'not-executed' })
    expect(score(createToolErrorsScorer(), { toolCalls: [waiting] })).toMatchObject({
      status: 'skipped',
      reason: 'no-content',
    })
    expect(score(createToolErrorsScorer())).toMatchObject({ status: 'skipped', reason: 'not-applicable' })
    expect(score(createToolErrorsScorer(), { toolCalls: [call('a', {}, { status: 'rejected' })] })).toMatchObject({
      reason: 'not-applicable',
      message: 'tool_errors: no call was carried out: each waits, or a person refused it.',
    })
  })
})
