import { expect, it } from 'vitest'

import type { Evaluation, Score } from '../model/score.ts'
import { FailingJudges } from './failing-judges.ts'

const UNANSWERED: Score = { status: 'failed', code: 'judge-unanswered', message: '' }
const SCORED: Score = { status: 'scored', value: 1, label: 'pass' }
const SKIPPED: Score = { status: 'skipped', reason: 'sampled-out', message: '' }

const evaluationOf = (score: Score): Evaluation => ({
  scorer: { id: 'tone', version: 'v', kind: 'judge', range: [0, 1], better: 'higher', passAt: 1, level: 'run' },
  runId: 'r',
  revision: 1,
  complete: true,
  durationMs: 1,
  judge: { model: 'local/mini', calls: 1, usage: {} },
  score,
})

it('finds a judge that fails five times without a score in between, until it gives one', () => {
  const judges = new FailingJudges()
  const look = (...scores: readonly Score[]) => scores.map((score) => judges.look(evaluationOf(score))?.id)
  look(UNANSWERED, UNANSWERED, UNANSWERED, UNANSWERED, SCORED)
  expect(look(UNANSWERED, UNANSWERED, SKIPPED, UNANSWERED, UNANSWERED)).not.toContain('tone')
  expect(judges.now).toEqual([])
  expect(look(UNANSWERED, UNANSWERED, SKIPPED)).toEqual(['tone', undefined, undefined])
  expect(judges.now).toMatchObject([{ id: 'tone', model: 'local/mini', code: 'judge-unanswered' }])
  look(SCORED)
  expect(judges.now).toEqual([])
})
