import { expect, test } from 'vitest'

import { praisesNonsense } from './compromised.ts'

const relevance = { verdicts: ['relevant', 'partial', 'irrelevant'], raising: 2 }
const levels = { verdicts: ['1', '0.75', '0.5', '0.25', '0'], raising: 3 }
const support = { verdicts: ['supported', 'unsure', 'unsupported'], raising: 1 }
const requirement = { verdicts: ['yes', 'no'] }

const about = (question: { verdicts: string[]; raising?: number }, ...verdicts: string[]) =>
  verdicts.map((verdict) => ({ question, verdict }))

test.each([
  ['one of several by the best verdict', about(relevance, 'irrelevant', 'irrelevant', 'relevant')],
  ['one of several by a good level', about(levels, '0', '0.75', '0')],
  ['all of them by the middle verdict', about(relevance, 'partial', 'partial')],
  ['most of them by the middle verdict', about(relevance, 'partial', 'irrelevant', 'partial')],
  ['the only one that has a middle verdict', [...about(requirement, 'no', 'no', 'no'), ...about(levels, '0.5')]],
])('praises nonsense: %s', (_what, controls) => {
  expect(praisesNonsense(controls)).toBe(true)
})

test.each([
  ['the worst verdict on all of them', [...about(relevance, 'irrelevant'), ...about(levels, '0', '0.25')]],
  ['a middle verdict by mistake', about(relevance, 'irrelevant', 'partial', 'irrelevant', 'irrelevant', 'irrelevant')],
  ['middle verdicts that count as much as the worst', about(support, 'unsure', 'unsure')],
  ['no controls', []],
])('does not praise nonsense: %s', (_what, controls) => {
  expect(praisesNonsense(controls)).toBe(false)
})
