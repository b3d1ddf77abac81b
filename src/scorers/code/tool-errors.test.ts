import { describe, expect, it } from 'vitest'

import { call, score } from '../../../test/fixtures/code-runs.ts'
import { createToolErrorsScorer } from './tool-errors.ts'

const failed = (name: string) => call(name, {}, { status: 'error', error: { message: 'no such city' } })

const failing = (message: string | undefined, result: unknown) =>
  score(createToolErrorsScorer(), {
    toolCalls: [
      call('book', {}, { status: 'error', error: { type: 'E1', ...(message !== undefined && { message }) }, result }),
    ],
  })

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

  it('gives the text of the result as the reason if the error says no more than that the call failed', () => {
    const result = 'Error: not enough seats on flight HAT139'
    for (const message of [undefined, 'tool error', 'Error', 'Tool execution failed.']) {
      expect(failing(message, result)).toMatchObject({
        explanation: `1 of 1 call failed, and the run recovered from 0 of them; the first: book (${result}).`,
        findings: [{ reason: result }],
      })
    }
    expect(failing('no such city', result)).toMatchObject({ findings: [{ reason: 'no such city' }] })
    expect(failing('tool error', { code: 7 })).toMatchObject({ findings: [{ reason: '{"code":7}' }] })
    expect(failing('tool error', undefined)).toMatchObject({ findings: [{ reason: 'tool error' }] })
    expect(failing(undefined, undefined)).toMatchObject({ findings: [{ reason: 'E1' }] })
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
  })
})
