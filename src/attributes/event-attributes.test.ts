import { expect, test } from 'vitest'

import type { Evaluation, Score } from '../model/score.ts'
import { toRunInput } from '../scoring/given/run-input.ts'
import { EVENT_ATTRIBUTES, eventAttributes } from './event-attributes.ts'
import { SCORE_ATTRIBUTES, scoreAttributes } from './score-attributes.ts'

const scores: readonly Score[] = [
  {
    status: 'scored',
    value: 0.5,
    label: 'pass',
    explanation: 'because',
    found: 1,
    findings: [{ about: 'claim', verdict: 'supported', rating: 'good', text: 'It is warm.' }],
  },
  { status: 'skipped', reason: 'no-output', message: 'There is no answer.' },
  { status: 'failed', code: 'judge-http', message: 'It cannot be reached.' },
]

const rules = { explanations: 'all', stripContent: false } as const
const { run } = toRunInput({ input: 'Why?', output: 'Because.' })
const call = {
  index: 0,
  name: 'refund',
  toolCallId: 'a',
  score: { status: 'scored', value: 0.5, label: 'pass' },
} as const

const evaluationOf = (score: Score, level: 'run' | 'tool-call' = 'run'): Evaluation => ({
  scorer: { id: 'polite', version: '1', kind: 'judge', range: [0, 1], better: 'higher', passAt: 0.7, level },
  runId: run.id,
  revision: 1,
  complete: true,
  probability: 0.5,
  upstreamProbability: 0.5,
  durationMs: 1,
  judge: { model: 'a/b', calls: 1, usage: { inputTokens: 1, outputTokens: 1 }, costUsd: 0.1 },
  score,
})

test('Every documented attribute is written for some score', () => {
  const ofCall = { ...evaluationOf(call.score, 'tool-call'), calls: [call] }
  const named = {
    ...run,
    agent: { name: 'a' },
    conversationId: 'c',
    conversation: { turns: [] },
    steps: [{ responseId: 'r' }],
  } as never
  const ids = { key: 'k', id: 'i' }
  const written = new Set([
    ...Object.keys(scoreAttributes(ofCall, rules)),
    ...Object.keys(eventAttributes(ofCall, run, { rules, verdictTimeMs: 1, extra: {}, call, ids })),
    ...scores.flatMap((score) => [
      ...Object.keys(scoreAttributes(evaluationOf(score), rules)),
      ...Object.keys(eventAttributes(evaluationOf(score), named, { rules, verdictTimeMs: 1, extra: {} })),
    ]),
  ])
  const documented = [
    ...Object.keys(SCORE_ATTRIBUTES).map((name) => `spanscore.polite.${name}`),
    ...Object.keys(EVENT_ATTRIBUTES),
  ]
  expect([...written].toSorted()).toEqual(documented.toSorted())
})

const finding = (rating: 'good' | 'bad', text: string) =>
  ({ about: 'claim', verdict: 'supported', rating, text }) as const

test('Findings are written like explanations, bounded, the bad ones first, and never without content', () => {
  const findings = [...Array.from({ length: 20 }, () => finding('good', 'x'.repeat(300))), finding('bad', 'y')]
  const evaluation = evaluationOf({ status: 'scored', value: 0.5, label: 'fail', findings })
  const textOf = (own: Partial<Parameters<typeof eventAttributes>[2]['rules']>): unknown =>
    eventAttributes(evaluation, run, { rules: { ...rules, ...own }, verdictTimeMs: 1, extra: {} })['spanscore.findings']
  const written = String(textOf({}))
  expect(written.length).toBeLessThanOrEqual(4096)
  const kept: readonly unknown[] = JSON.parse(written)
  expect(kept.slice(0, 2)).toMatchObject([{ text: 'y' }, { rating: 'good' }])
  expect(textOf({ stripContent: true })).toBeUndefined()
  expect(textOf({ explanations: 'code' })).toBeUndefined()
})
