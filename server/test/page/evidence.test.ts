import type { Evaluation } from 'spanscore/engine'
import { describe, expect, it } from 'vitest'

import { findingsOf, markEvidence } from '../../page/src/parts/evidence.ts'

const evaluationOf = (details: unknown): Evaluation => ({
  scorer: { id: 'scorer', version: 'v', kind: 'code', range: [0, 1], better: 'higher', passAt: 1, level: 'run' },
  runId: 'r',
  revision: 1,
  complete: true,
  durationMs: 1,
  score: { status: 'scored', value: 0.5, label: 'fail', details },
})

describe('what a scorer found', () => {
  it('is read from claims and their verdicts', () => {
    const items = [
      { text: 'It rains.', verdict: 'supported', reasoning: 'the tool says so' },
      { text: 'It is warm.', verdict: 'unsupported', reasoning: 'no tool says so' },
      { text: 'It is windy.', verdict: 'unsure', reasoning: '' },
    ]
    expect(findingsOf(evaluationOf({ items }))).toMatchObject([
      { text: 'It rains.', isGood: true },
      { text: 'It is warm.', isGood: false, why: 'no tool says so', verdict: 'unsupported' },
      { text: 'It is windy.', isGood: undefined },
    ])
  })

  it('is the score of each call, from a scorer of calls, and marks no sentence of the answer', () => {
    const { scorer, ...rest } = evaluationOf(undefined)
    const calls = [
      { index: 0, name: 'refund', score: { status: 'scored', value: 1, label: 'pass' } },
      { index: 2, name: 'refund', score: { status: 'scored', value: 0, label: 'fail', explanation: 'too much' } },
    ] as const
    const findings = findingsOf({ ...rest, scorer: { ...scorer, level: 'tool-call' }, calls })
    expect(findings).toMatchObject([
      { text: 'refund', isGood: true, verdict: '1' },
      { text: 'refund', isGood: false, verdict: '0', why: 'too much' },
    ])
    expect(markEvidence('The refund is done.', findings)).toEqual([{ text: 'The refund is done.' }])
  })

  it('is read from the turns of a conversation', () => {
    const messages = [
      { turn: 1, verdict: 'moves_on', reasoning: '' },
      { turn: 2, verdict: 'gives_up', reasoning: 'asks for a person' },
    ]
    expect(findingsOf(evaluationOf({ messages }))).toMatchObject([
      { text: 'Turn 2', turn: 1, isGood: true },
      { text: 'Turn 3', turn: 2, isGood: false, verdict: 'gives up', why: 'asks for a person' },
    ])
    expect(findingsOf(evaluationOf({ turns: [3] }))).toMatchObject([{ turn: 3, isGood: false, verdict: 'repeats' }])
    const goals = [{ goal: 'a refund', verdict: 'not', reasoning: 'it failed' }]
    expect(findingsOf(evaluationOf({ goals }))).toMatchObject([{ text: 'a refund', isGood: false, why: 'it failed' }])
  })

  it.each([
    [
      'Friction in 2 of 11 messages: turn 3 repeats (asks (again); twice); turn 12 gives_up. The judge was not shown 3 of 60 turns.',
      [
        { turn: 2, verdict: 'repeats', why: 'asks (again); twice' },
        { turn: 11, verdict: 'gives up', why: '' },
      ],
    ],
    [
      '1 of 3 messages repeat an earlier one: turn 3 (where is it).',
      [{ turn: 2, verdict: 'repeats', why: 'where is it' }],
    ],
    ['Friction in 0 of 2 messages.', []],
    ['It is polite: turn 3 repeats.', []],
  ])('is read from an explanation that names turns, because files hold no details: %s', (explanation, expected) => {
    const { scorer, ...rest } = evaluationOf(undefined)
    const score = { status: 'scored', value: 0.5, label: 'fail', explanation } as const
    const found = findingsOf({ ...rest, scorer: { ...scorer, level: 'conversation' }, score })
    expect(found.map(({ turn, verdict, why }) => ({ turn, verdict, why }))).toEqual(expected)
    expect(findingsOf({ ...rest, scorer, score })).toEqual([])
  })

  it('is read from requirements, tool calls and lists of missing parts', () => {
    const details = {
      requirementsFulfillment: {
        requirements: [{ requirement: 'say when', isFulfilled: false, reasoning: 'not said' }],
      },
      completeness: { missingElements: ['the date'] },
      calls: [
        { name: 'book', index: 2, errors: [{ path: 'city', code: 'type_error', message: 'city must be string' }] },
      ],
    }
    expect(findingsOf(evaluationOf(details))).toMatchObject([
      { text: 'say when', isGood: false, kind: 'requirements', verdict: 'not fulfilled' },
      { text: 'the date', isGood: false },
      { text: 'book', isGood: false, toolCall: 2, path: 'city', why: 'city must be string' },
    ])
  })

  it.each([
    undefined,
    null,
    1,
    'text',
    [],
    [[[]]],
    { a: { b: { c: { d: { e: { f: 1 } } } } } },
    { items: [null, 1, {}] },
  ])('is empty for details such as %j', (details) => {
    expect(findingsOf(evaluationOf(details))).toEqual([])
  })
})

describe('evidence in a text', () => {
  const finding = { text: 'The trip costs 89.90 EUR', isGood: false, why: '', verdict: '', kind: 'items' }

  it('is the sentence that shares most words with it, and does not split numbers', () => {
    const text = 'Hello! The whole trip costs 89.90 EUR for two. Have fun.\nBye'
    const parts = markEvidence(text, [finding])
    expect(parts.map(({ text: part }) => part).join('')).toBe(text)
    expect(parts.filter((part) => part.finding !== undefined).map(({ text: part }) => part)).toEqual([
      'The whole trip costs 89.90 EUR for two. ',
    ])
  })

  it('is empty if no sentence mentions it', () => {
    expect(markEvidence('Something else entirely.', [finding]).some((part) => part.finding !== undefined)).toBe(false)
  })
})
