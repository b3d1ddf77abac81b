import { describe, expect, it } from 'vitest'

import { call, calls, score } from '../../../test/fixtures/code-runs.ts'
import { createLoopScorer } from './loop.ts'

const large = (first: number) => ({ list: [first, ...Array.from({ length: 60_000 }, (_, index) => index)] })

describe('loop', () => {
  it('counts identical calls beyond those allowed, whatever the order of their arguments', () => {
    const toolCalls = [
      call('a', { x: 1, y: 2 }),
      call('a', { y: 2, x: 1 }),
      call('a', { x: 1, y: 2 }),
      call('a', { x: 2 }),
    ]
    expect(score(createLoopScorer(), { toolCalls })).toMatchObject({
      value: 0.25,
      label: 'fail',
      findings: [{ reason: '3 times', places: [0, 1, 2].map((index) => ({ in: 'call', index })) }],
    })
    expect(score(createLoopScorer({ maxIdentical: 3 }), { toolCalls })).toMatchObject({ value: 0, label: 'pass' })
    expect(score(createLoopScorer({ ignore: ['a'] }), { toolCalls })).toMatchObject({ status: 'skipped' })
  })

  it('names the longest cycle', () => {
    expect(score(createLoopScorer(), { toolCalls: calls('xababababy') })).toMatchObject({
      value: 0.4,
      explanation: expect.stringContaining('a, b came 4 times in a row.'),
      details: { cycle: { calls: ['a', 'b'], times: 4 } },
    })
    expect(score(createLoopScorer(), { toolCalls: calls('aaa') })).toMatchObject({
      details: { cycle: { calls: ['a'], times: 3 } },
    })
    expect(score(createLoopScorer(), { toolCalls: calls('abcabd') })).not.toHaveProperty('details.cycle')
  })

  it('compares large arguments', () => {
    const toolCalls = [call('a', large(1)), call('a', large(1)), call('a', large(2)), call('a', large(1))]
    expect(score(createLoopScorer(), { toolCalls })).toMatchObject({
      value: 0.25,
      findings: [{ reason: '3 times', places: [0, 1, 3].map((index) => ({ in: 'call', index })) }],
    })
  })

  it('refuses a limit below 1', () => {
    expect(() => createLoopScorer({ maxIdentical: 0 })).toThrow(/maxIdentical/)
  })
})
