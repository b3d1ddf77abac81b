import { expect, test } from 'vitest'

import { repeatQuestions, settleRepetitions } from './repetitions.ts'

const question = (ids: string[]) => ({ ids, text: 'Is it so?', verdicts: ['yes', 'partly', 'no'], failsNonsense: true })
const answer = (verdict: string) => ({ verdict, reasoning: '', picks: [] })

test.each([
  [1, 4],
  [2, 4],
  [3, 6],
  [4, 4],
  [7, 7],
])('%d questions about a decoy are asked under %d ids', (count, asked) => {
  const questions = [question(Array.from({ length: count }, (_, index) => `q${index}`))]
  expect(new Set(repeatQuestions(questions)[0]?.ids).size).toBe(asked)
})

test('a question that nonsense may pass is asked once', () => {
  const other = { ...question(['missing']), failsNonsense: false }
  expect(repeatQuestions([question(['call_1']), other])[1]).toEqual(other)
})

test.each([
  [['yes', 'yes', 'yes', 'yes'], 'yes'],
  [['no', 'yes', 'yes', 'yes'], 'yes'],
  [['yes', 'no', 'yes', 'no'], 'no'],
  [['yes', 'partly', 'partly', 'no'], 'partly'],
])('of the answers %j the one in the middle counts, %s', (verdicts, settled) => {
  const [repeated = question([])] = repeatQuestions([question(['q'])])
  const answers = new Map(repeated.ids.map((id, index) => [id, answer(verdicts[index] ?? '')]))
  expect(settleRepetitions([repeated], answers)).toEqual(new Map([['q', answer(settled)]]))
})
