import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { call, calls, notRecorded, runOf, score } from '../../../test/fixtures/code-runs.ts'
import { evaluate } from '../../scoring/evaluate.ts'
import { createTrajectoryScorer } from './trajectory.ts'
import type { TrajectoryDetails, TrajectoryMode } from './trajectory.ts'

const measuring = (name: 'precision' | 'recall' | 'f1') =>
  createTrajectoryScorer({ expected: ['a', 'a'], measure: name })

const expecting = (args: Record<string, unknown> | ((given: unknown) => boolean)) =>
  createTrajectoryScorer({ expected: [{ name: 'a', arguments: args }] })

const trajectoryOf = (expected: readonly string[], made: readonly string[]): TrajectoryDetails => {
  const result = score(createTrajectoryScorer({ expected }), { toolCalls: calls(made.join('')) })
  return (result.status === 'scored' ? result.details : undefined) as TrajectoryDetails
}

describe('trajectory', () => {
  it.each<[TrajectoryMode, string, string, number]>([
    ['exact', 'ab', 'ab', 1],
    ['exact', 'ab', 'ba', 0],
    ['exact', 'ab', 'abx', 0],
    ['exact', '', '', 1],
    ['ordered', 'ab', 'xaxbx', 1],
    ['ordered', 'ab', 'ba', 0],
    ['ordered', 'aba', 'ab', 0],
    ['unordered', 'ab', 'ba', 1],
    ['unordered', 'ab', 'bax', 0],
    ['unordered', 'aab', 'abb', 0],
    ['subset', 'abc', 'ca', 1],
    ['subset', 'abc', 'aa', 0],
    ['superset', 'ab', 'xbxa', 1],
    ['superset', 'aab', 'xbxa', 0],
  ])('%s: %s expected, %s made: %d', (mode, expected, made, value) => {
    const scorer = createTrajectoryScorer({ expected: Array.from(expected), mode })
    expect(score(scorer, { toolCalls: calls(made) })).toMatchObject({ status: 'scored', value })
  })

  it.each<TrajectoryMode>(['exact', 'ordered', 'unordered', 'subset', 'superset'])(
    'an empty list means that no tool may be called, in mode %s',
    (mode) => {
      const scorer = createTrajectoryScorer({ expected: [], mode })
      expect(score(scorer, { toolCalls: calls('') })).toMatchObject({ value: 1 })
      expect(score(scorer, { toolCalls: calls('x') })).toMatchObject({
        value: 0,
        explanation: expect.stringContaining('not expected: '),
        findings: [{ verdict: 'unexpected', rating: 'bad', places: [{ in: 'call', index: 0 }] }],
      })
      const reading = createTrajectoryScorer({ expected: [], mode, ignore: ['read'] })
      expect(score(reading, { toolCalls: [call('read')] })).toMatchObject({ value: 1 })
    },
  )

  it('counts calls that succeeded or whose outcome is unknown, if it is asked to, and says how many do not count', () => {
    const statuses = ['error', 'rejected', 'unknown'] as const
    const toolCalls = [...statuses.map((status) => call('a', {}, { status })), call('x'), call('b')]
    const expected = ['a', 'b']
    expect(score(createTrajectoryScorer({ expected, mode: 'exact' }), { toolCalls })).toMatchObject({ value: 0 })
    expect(score(createTrajectoryScorer({ expected, mode: 'exact', count: 'succeeded' }), { toolCalls })).toMatchObject(
      {
        value: 0,
        explanation: expect.stringContaining('Without 2 calls that did not succeed.'),
        findings: [{ verdict: 'unexpected', text: 'x', places: [{ in: 'call', index: 3 }] }],
      },
    )
    const reading = createTrajectoryScorer({ expected, mode: 'exact', count: 'succeeded', ignore: ['x'] })
    expect(score(reading, { toolCalls })).toMatchObject({ value: 1 })
    expect(createTrajectoryScorer({ expected }).version).toBe(
      createTrajectoryScorer({ expected, count: 'all' }).version,
    )
    expect(createTrajectoryScorer({ expected }).version).not.toBe(reading.version)
  })

  it('counts repeats in precision, recall and F1, so that a hundred needless calls lower them', () => {
    const made = { toolCalls: calls(`a${'x'.repeat(99)}`) }
    expect(score(measuring('precision'), made)).toMatchObject({ value: 0.01 })
    expect(score(measuring('recall'), made)).toMatchObject({ value: 0.5 })
    expect(score(measuring('f1'), made)).toMatchObject({ value: (2 * 0.01 * 0.5) / 0.51 })
    expect(score(createTrajectoryScorer({ expected: [], measure: 'f1' }))).toMatchObject({ value: 1 })
    expect(score(createTrajectoryScorer({ expected: [], measure: 'f1' }), { toolCalls: calls('x') })).toMatchObject({
      value: 0,
    })
  })

  it('pairs as many calls as possible, even if a greedy choice would leave one out', () => {
    const expected = [{ name: 'book' }, { name: 'book', arguments: { seat: 'aisle' } }]
    const made = { toolCalls: [call('book', { seat: 'aisle' }), call('book', { seat: 'window' })] }
    expect(score(createTrajectoryScorer({ expected, mode: 'unordered' }), made)).toMatchObject({ value: 1 })
  })

  it('compares the expected arguments, and allows any others', () => {
    const made = { toolCalls: [call('a', { city: 'Oslo', stops: [{ x: 1, y: 2 }] })] }
    expect(score(expecting({ stops: [{ y: 2, x: 1 }] }), made)).toMatchObject({ value: 1 })
    expect(score(expecting({ city: 'Bergen' }), made)).toMatchObject({ value: 0 })
    expect(score(expecting({ unit: 'C' }), made)).toMatchObject({ value: 0 })
    expect(
      score(
        expecting((given) => JSON.stringify(given).includes('Oslo')),
        made,
      ),
    ).toMatchObject({ value: 1 })
  })

  it('says which calls were made with other arguments', () => {
    const scorer = createTrajectoryScorer({ expected: [{ name: 'a', arguments: { city: 'Lima' } }] })
    expect(score(scorer, { toolCalls: [call('a', { city: 'Oslo' })] })).toMatchObject({
      explanation: 'The calls do not match (ordered): made with other arguments: a; precision 0.00, recall 0.00.',
    })
  })

  it('says what was not made and what was not expected', () => {
    expect(score(createTrajectoryScorer({ expected: ['a', 'b'] }), { toolCalls: calls('ax') })).toMatchObject({
      explanation: 'The calls do not match (ordered): not made: b; not expected: x; precision 0.50, recall 0.50.',
      details: { missing: ['b'], unexpected: ['x'], precision: 0.5, recall: 0.5 } satisfies Partial<TrajectoryDetails>,
    })
  })

  it('ignores the named tools, calls a function, and prefers the expectation of the run itself', () => {
    const scorer = createTrajectoryScorer({
      expected: (run) => (run.agent.name === 'x' ? ['a'] : undefined),
      mode: 'exact',
      ignore: ['r'],
    })
    expect(score(scorer, { agent: { name: 'x' }, toolCalls: calls('rar') })).toMatchObject({ value: 1 })
    expect(score(scorer)).toMatchObject({ status: 'skipped', reason: 'not-applicable' })
    const attributes = { 'spanscore.expected_tools': ['a', 'b'] }
    expect(score(scorer, { attributes, toolCalls: calls('ab') })).toMatchObject({ value: 1 })
  })

  it('is skipped if arguments must be compared and were not recorded', () => {
    const run = {
      toolCalls: [call('a', undefined, { arguments: undefined as never })],
      ...notRecorded('toolCalls[0].arguments'),
    }
    const scorer = createTrajectoryScorer({ expected: [{ name: 'a', arguments: { x: 1 } }] })
    expect(score(scorer, run)).toMatchObject({
      status: 'skipped',
      reason: 'no-content',
      message: expect.stringContaining('recordInputs'),
    })
    expect(score(createTrajectoryScorer({ expected: ['a'] }), run)).toMatchObject({ value: 1 })
  })

  it('keeps its properties: order does not matter to the shares, and one more call never raises precision', () => {
    const letters = fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 8 })
    fc.assert(
      fc.property(letters, letters, (expected, made) => {
        const plain = trajectoryOf(expected, made)
        expect(trajectoryOf(expected, made.toReversed())).toMatchObject({
          precision: plain.precision,
          recall: plain.recall,
        })
        expect(trajectoryOf(expected, [...made, 'x']).precision).toBeLessThanOrEqual(plain.precision)
        expect(plain.missing.length + made.length).toBe(plain.unexpected.length + expected.length)
      }),
    )
  })
})

it('hundreds of calls are compared with a hundred expected ones, and each argument is read once', () => {
  let reads = 0
  const made = Array.from({ length: 900 }, (_, index) =>
    call('t', {
      get a() {
        reads += 1
        return index % 7
      },
    }),
  )
  const expected = Array.from({ length: 100 }, (_, index) => ({ name: 't', arguments: { a: index % 5 } }))
  const scorer = createTrajectoryScorer({ expected, mode: 'superset' })
  expect(evaluate(scorer, runOf({ toolCalls: made }))).toMatchObject({ score: { status: 'scored', value: 1 } })
  expect(reads).toBe(900)
  const more = { toolCalls: [...made, ...made] }
  expect(evaluate(scorer, runOf(more))).toMatchObject({ score: { reason: 'not-applicable' } })
})
