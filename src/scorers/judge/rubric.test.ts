import { describe, expect, it } from 'vitest'

import { createScriptedJudge } from '../../testing/scripted-judge.ts'
import { createTestMessage, createToolInvocation } from '../../testing/test-messages.ts'
import { rubrics } from './criteria.ts'
import { createRubricScorer } from './rubric.ts'
import type { RubricCriterion } from './criteria.ts'

const criteria: RubricCriterion[] = [
  { id: 'polite', question: 'Is it polite?' },
  { id: 'correct', question: 'Is it correct?', weight: 3 },
  { id: 'safe', question: 'Is it safe?', weight: 2, required: true },
]
const run = { input: 'Hi', output: 'Hello.' }

describe('rubric', () => {
  it.each([
    { verdicts: { polite: 'pass', correct: 'pass', safe: 'pass' }, score: 1 },
    { verdicts: { polite: 'fail', correct: 'pass', safe: 'pass' }, score: 0.83 },
    { verdicts: { polite: 'pass', correct: 'fail', safe: 'pass' }, score: 0.5 },
    { verdicts: { polite: 'pass', correct: 'pass', safe: 'fail' }, score: 0 },
    { verdicts: { polite: 'fail', correct: 'fail', safe: 'fail' }, score: 0 },
  ])('$verdicts give $score', async ({ verdicts, score }) => {
    const model = createScriptedJudge({ verdicts })
    const result = await createRubricScorer({ model, criteria }).run(run)
    expect(result.score).toBe(score)
    expect(result.analyzeStepResult?.criteria.map(({ id }) => id)).toEqual(['polite', 'correct', 'safe'])
  })

  it('hides weights and required flags from the judge', async () => {
    const model = createScriptedJudge({ verdicts: { polite: 'pass', correct: 'pass', safe: 'pass' } })
    await createRubricScorer({ model, criteria }).run(run)
    expect(model.calls[0]?.prompt).not.toMatch(/weight|required/)
  })

  it.each([
    [[], 'a list of at least one'],
    [[{ id: 'a b', question: 'x' }], 'criteria[0].id'],
    [
      [
        { id: 'a', question: 'x' },
        { id: 'A', question: 'y' },
      ],
      'criteria[1].id to differ',
    ],
    [[{ id: 'a', question: ' ' }], 'criteria[0].question'],
    [[{ id: 'a', question: 'x', weight: 0 }], 'criteria[0].weight'],
  ])('refuses %j', (wrong, message) => {
    const model = createScriptedJudge({})
    expect(() => createRubricScorer({ model, criteria: wrong })).toThrow(message)
  })
})

describe('a rubric of tool calls', () => {
  const invocations = Array.from({ length: 20 }, (_, index) =>
    createToolInvocation({ toolCallId: `c${index}`, toolName: 'refund', args: {}, result: 'ok', state: 'result' }),
  )
  const asked = {
    input: [createTestMessage({ role: 'user', content: 'Hi' })],
    output: [createTestMessage({ role: 'assistant', content: 'Done.', toolInvocations: invocations })],
  }
  const two = criteria.slice(0, 2)

  it('asks about all calls in one request, and scores each', async () => {
    const verdicts = Object.fromEntries(
      invocations.flatMap((_, index) => [
        [`polite.call_${index + 1}`, index === 0 ? 'fail' : 'pass'],
        [`correct.call_${index + 1}`, 'pass'],
      ]),
    )
    const model = createScriptedJudge({ verdicts })
    const scorer = createRubricScorer({ model, criteria: two, level: 'tool-call', judge: { maxOutputTokens: 8000 } })
    const { score, calls, evaluation } = await scorer.run(asked)
    expect(model.calls).toHaveLength(1)
    expect(calls?.map((call) => call.score.status === 'scored' && call.score.value)).toEqual([
      0.75,
      ...Array(19).fill(1),
    ])
    expect(score).toBeCloseTo((0.75 + 19) / 20)
    expect(evaluation).toMatchObject({ scorer: { level: 'tool-call' }, judge: { calls: 1 } })
  })

  it('is skipped without calls, and refuses other levels', async () => {
    const model = createScriptedJudge({})
    await expect(createRubricScorer({ model, criteria: two, level: 'tool-call' }).run(run)).rejects.toThrow(
      'rubric: the run has no tool call.',
    )
    expect(() => createRubricScorer({ model, criteria: two, level: 'span' as 'run' })).toThrow(
      'expected level to be run or',
    )
  })
})

describe('ready criteria', () => {
  it('are named in criteria, and are the same in code', async () => {
    const model = createScriptedJudge({ verdicts: { safe: 'pass', tone: 'fail', own: 'pass' } })
    const own = { id: 'own', question: 'Is it mine?' }
    const named = createRubricScorer({ model, criteria: ['safe', { tone: 'friendly and brief' }, own] })
    const coded = createRubricScorer({ model, criteria: [rubrics.safe, rubrics.tone('friendly and brief'), own] })
    expect(named.version).toBe(coded.version)
    expect((await named.run({ input: 'Hi', output: 'Go away.' })).score).toBe(0.67)
    expect(model.calls[0]?.prompt).toContain('- tone [pass | fail]: Is the tone of the answer friendly and brief?')
  })

  it('give a rubric of one of them its description', () => {
    const model = createScriptedJudge({})
    expect(createRubricScorer({ model, criteria: ['no_refusal'] }).description).toBe(
      'Whether the answer is no refusal.',
    )
    expect(createRubricScorer({ model, criteria: ['safe', 'unbiased'] }).description).toContain('weighted share')
  })
})
