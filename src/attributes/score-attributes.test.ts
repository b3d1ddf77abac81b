import { expect, it } from 'vitest'

import type { Evaluation } from '../model/score.ts'
import { scoreAttributes } from './score-attributes.ts'
import type { ExplanationPolicy } from './explanation-rules.ts'

function failed(kind: 'code' | 'judge'): Evaluation {
  return {
    scorer: { id: 'polite', version: '1a2b3c4d', kind, range: [0, 1], better: 'higher', passAt: 1, level: 'run' },
    runId: 'a:b',
    revision: 1,
    complete: true,
    durationMs: 0,
    score: {
      status: 'failed',
      code: 'scorer-threw',
      message: 'It said a secret.',
      messageWithoutContent: 'It threw.',
    },
  }
}

it.each<{ kind: 'code' | 'judge'; explanations: ExplanationPolicy; stripContent: boolean; message: string }>([
  { kind: 'code', explanations: 'all', stripContent: false, message: 'It said a secret.' },
  { kind: 'judge', explanations: 'all', stripContent: false, message: 'It said a secret.' },
  { kind: 'code', explanations: 'code', stripContent: false, message: 'It said a secret.' },
  { kind: 'judge', explanations: 'code', stripContent: false, message: 'It threw.' },
  { kind: 'code', explanations: 'none', stripContent: false, message: 'It threw.' },
  { kind: 'judge', explanations: 'none', stripContent: false, message: 'It threw.' },
  { kind: 'code', explanations: 'all', stripContent: true, message: 'It threw.' },
])('with explanations $explanations and stripContent $stripContent, a $kind scorer writes: $message', (given) => {
  expect(scoreAttributes(failed(given.kind), given)['spanscore.polite.status_message']).toBe(given.message)
})
