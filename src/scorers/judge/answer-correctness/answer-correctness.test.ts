import { describe, expect, it } from 'vitest'

import { evaluate } from '../../../scoring/evaluate.ts'
import { toRunInput } from '../../../scoring/given/run-input.ts'
import { readJudgePrompt } from '../../../testing/judge-prompt.ts'
import { createScriptedJudge } from '../../../testing/scripted-judge.ts'
import type { JudgeScript } from '../../../testing/scripted-judge.ts'
import { createAnswerCorrectnessScorer } from './answer-correctness.ts'

/** A question that no other test asks, because points are kept in the process. */
let asked = 0
const question = (): string => `Where is Oslo, and how old is it? (${++asked})`

const points = [
  { text: 'Oslo is in Norway.', verdict: '2' },
  { text: 'It is about 970 years old.', verdict: '1' },
]
const ticked = (p1: string, p2: string, falseClaims: readonly string[] = []) => ({
  verdicts: { p1, p2 },
  lists: { false: falseClaims },
})

async function scoreOf(script: JudgeScript, input = question(), output = 'In Norway.') {
  const model = createScriptedJudge(script)
  const { run, ...passed } = toRunInput({ input, output, groundTruth: 'In Norway; founded around 1049.' })
  const { score } = await evaluate(createAnswerCorrectnessScorer({ model }), run, passed)
  return { score, model }
}

describe('answer_correctness', () => {
  it.each([
    [ticked('said', 'said'), 1, 'pass'],
    [ticked('said', 'missing'), 0.67, 'fail'],
    [ticked('said', 'partly'), 0.83, 'pass'],
    [ticked('said', 'contradicted'), 0.67, 'fail'],
    [ticked('contradicted', 'said'), 0.33, 'fail'],
    [ticked('said', 'said', ['It is in Sweden, too.']), 1, 'fail'],
  ] as const)('of %j is %d: %s', async (verdicts, value, label) => {
    expect((await scoreOf([{ lists: { points } }, verdicts])).score).toMatchObject({ value, label })
  })

  it('says that it fails for what was found if the score alone would pass', async () => {
    const { score } = await scoreOf([{ lists: { points } }, ticked('said', 'said', ['Sweden'])])
    expect(score).toMatchObject({
      explanation: '2 of 2 points said. false: Sweden. It fails for what was found, whatever its score.',
      explanationWithoutContent: '2 of 2 points said. It fails for what was found, whatever its score.',
    })
  })

  it('finds points and false claims, and shows no run but question, points and answers', async () => {
    const { score, model } = await scoreOf([{ lists: { points } }, ticked('said', 'missing', ['Sweden'])])
    expect(score).toMatchObject({
      explanation: '1 of 2 points said. missing: It is about 970 years old.; false: Sweden.',
      findings: [
        { about: 'point', verdict: 'said', rating: 'good' },
        { about: 'point', verdict: 'missing', rating: 'bad' },
        { about: 'claim', verdict: 'false', rating: 'bad', text: 'Sweden' },
      ],
    })
    const { sections } = readJudgePrompt(model.calls[1]?.prompt ?? '')
    expect(sections.get('the points of the expected answer')).toBe(
      'p1: Oslo is in Norway.\np2: It is about 970 years old.',
    )
    expect([...readJudgePrompt(model.calls[0]?.prompt ?? '').sections.keys()]).toEqual([
      'the question',
      'the expected answer',
    ])
  })

  it('makes the points of an expected answer once, also for runs that need them at the same time', async () => {
    const input = question()
    const model = createScriptedJudge([{ lists: { points } }, ticked('said', 'said'), ticked('said', 'said')])
    const scorer = createAnswerCorrectnessScorer({ model })
    const given = { input, output: 'In Norway, founded around 1049.', groundTruth: 'In Norway; founded around 1049.' }
    await Promise.all([scorer.run(given), scorer.run(given)])
    expect(model.calls).toHaveLength(3)
  })

  it('asks for points again after a judge failed to make them', async () => {
    const input = question()
    expect((await scoreOf('I would rather not.', input)).score).toMatchObject({ status: 'failed' })
    expect((await scoreOf([{ lists: { points } }, ticked('said', 'said')], input)).score).toMatchObject({ value: 1 })
  })

  it('takes the points of a case', async () => {
    const model = createScriptedJudge({ verdicts: { p1: 'said' } })
    const given = { input: 'Why?', output: 'So.', groundTruth: 'So.', points: [{ text: 'So.', weight: 2 as const }] }
    const { score } = await createAnswerCorrectnessScorer({ model }).run(given)
    expect([score, model.calls.length]).toEqual([1, 1])
  })

  it('is not applicable without an expected answer, and 0 without asking if the answer is empty', async () => {
    const model = createScriptedJudge({})
    const scorer = createAnswerCorrectnessScorer({ model })
    await expect(scorer.run({ input: 'Why?', output: 'So.' })).rejects.toThrow('no expected answer is known')
    expect((await scorer.run({ input: 'Why?', output: '', groundTruth: 'So.' })).score).toBe(0)
    expect(model.calls).toHaveLength(0)
  })
})
