import { describe, expect, it } from 'vitest'

import { createScriptedJudge } from '../../../testing/scripted-judge.ts'
import { createAnswerRelevancyScorer } from './answer-relevancy.ts'
import { createCompletenessScorer } from './completeness.ts'
import { createContextualRecallScorer } from './contextual-recall.ts'
import { createFaithfulnessScorer } from './faithfulness.ts'
import { createHallucinationScorer } from './hallucination.ts'
import type { JudgeModel } from '../../../judge/transport/judge-model.ts'

const context = ['Oslo was founded around 1049.']
const answer = {
  input: 'How old is Oslo, who founded the town, and when?',
  output: 'It was founded around 1049, by a fisherman.',
  groundTruth: 'Founded around 1049 by Harald.',
}

const makers = {
  answer_relevancy: (model: JudgeModel) => createAnswerRelevancyScorer({ model }),
  faithfulness: (model: JudgeModel) => createFaithfulnessScorer({ model, options: { context } }),
  hallucination: (model: JudgeModel) => createHallucinationScorer({ model, options: { context } }),
  completeness: (model: JudgeModel) => createCompletenessScorer({ model }),
  contextual_recall: (model: JudgeModel) => createContextualRecallScorer({ model, options: { context } }),
}
type Id = keyof typeof makers

const ids: readonly Id[] = ['answer_relevancy', 'faithfulness', 'hallucination', 'completeness', 'contextual_recall']

const listNames: Record<Id, string> = {
  answer_relevancy: 'statements',
  faithfulness: 'claims',
  hallucination: 'claims',
  completeness: 'elements',
  contextual_recall: 'statements',
}

function judge(id: Id, verdicts: readonly string[]) {
  return createScriptedJudge({
    lists: {
      [listNames[id]]: verdicts.map((verdict, index) => ({
        text: `item ${index + 1}`,
        verdict,
        reasoning: 'Because.',
      })),
    },
  })
}

describe.each<{ id: Id; verdicts: readonly string[]; score: number }>([
  { id: 'answer_relevancy', verdicts: ['relevant', 'partial', 'irrelevant'], score: 0.5 },
  { id: 'answer_relevancy', verdicts: ['relevant', 'relevant', 'partial'], score: 0.83 },
  { id: 'answer_relevancy', verdicts: ['irrelevant'], score: 0 },
  { id: 'faithfulness', verdicts: ['supported', 'not_stated', 'contradicted'], score: 0.33 },
  { id: 'faithfulness', verdicts: ['supported', 'supported'], score: 1 },
  { id: 'hallucination', verdicts: ['supported', 'not_stated', 'contradicted'], score: 0.67 },
  { id: 'hallucination', verdicts: ['supported'], score: 0 },
  { id: 'completeness', verdicts: ['covered', 'covered', 'missing'], score: 0.67 },
  { id: 'contextual_recall', verdicts: ['supported', 'unsupported'], score: 0.5 },
])('$id with $verdicts', ({ id, verdicts, score }) => {
  it(`is ${score}, in one call`, async () => {
    const model = judge(id, verdicts)
    const scorer = makers[id](model)
    const result = await scorer.run(answer)
    expect(result.score).toBe(score)
    expect(scorer.id).toBe(id)
    expect(model.calls).toHaveLength(1)
    expect(result.analyzeStepResult?.items).toHaveLength(verdicts.length)
    expect(result.reason).toContain(
      `Of ${verdicts.length} ${verdicts.length === 1 ? `${listNames[id].replace(/s$/, '')}:` : `${listNames[id]}:`}`,
    )
  })
})

describe('scorers of items', () => {
  it.each(ids)('%s without items is not applicable', async (id) => {
    await expect(makers[id](judge(id, [])).run(answer)).rejects.toMatchObject({
      evaluation: { score: { status: 'skipped', reason: 'not-applicable' } },
    })
  })

  it('distinguishes hallucination and faithfulness: lower is better for one, higher for the other', () => {
    const [low, high] = [
      makers.hallucination(judge('hallucination', [])),
      makers.faithfulness(judge('faithfulness', [])),
    ]
    expect([low.better, low.passAt, high.better, high.passAt]).toEqual(['lower', 0.3, 'higher', 0.7])
  })

  it('needs evidence: tool results or context', async () => {
    const model = judge('faithfulness', ['supported'])
    await expect(createFaithfulnessScorer({ model }).run(answer)).rejects.toThrow('Set options.context')
    const call = { type: 'tool-call', toolCallId: '1', toolName: 'lookup', args: {} }
    const result = { type: 'tool-result', toolCallId: '1', toolName: 'lookup', result: 'around 1049' }
    const output = [
      { role: 'assistant', content: [call] },
      { role: 'tool', content: [result] },
      { role: 'assistant', content: 'Around 1049.' },
    ]
    expect((await createFaithfulnessScorer({ model }).run({ input: 'How old?', output })).score).toBe(1)
  })

  it('takes the expected answer from the run, else from the option, else is not applicable', async () => {
    const model = judge('contextual_recall', ['supported'])
    const seen = async (groundTruth: string | undefined, option: string | undefined) => {
      const scorer = createContextualRecallScorer({
        model,
        options: { context, ...(option && { groundTruth: option }) },
      })
      await scorer.run({ input: 'x', output: 'y', ...(groundTruth && { groundTruth }) })
      return /begin: the expected answer\n(.*)\n/.exec(model.calls.at(-1)?.prompt ?? '')?.[1]
    }
    expect(await seen('from the run', 'from the option')).toBe('from the run')
    expect(await seen(undefined, 'from the option')).toBe('from the option')
    await expect(seen(undefined, undefined)).rejects.toThrow('no expected answer is known')
  })
})
