import { describe, expect, it } from 'vitest'
import { z } from 'zod'

import { createAnswerRelevancyScorer } from '../../src/scorers/judge/items/answer-relevancy.ts'
import { createCompletenessScorer } from '../../src/scorers/judge/items/completeness.ts'
import { createContextualRecallScorer } from '../../src/scorers/judge/items/contextual-recall.ts'
import { createScorer } from '../../src/scorers/create/create-scorer.ts'
import { createFaithfulnessScorer } from '../../src/scorers/judge/items/faithfulness.ts'
import { createHallucinationScorer } from '../../src/scorers/judge/items/hallucination.ts'
import { createPromptAlignmentScorerLLM } from '../../src/scorers/judge/alignment/prompt-alignment.ts'
import { createRubricScorer } from '../../src/scorers/judge/rubric.ts'
import { createSummarizationScorer } from '../../src/scorers/judge/summary/summarization.ts'
import { createToolCallAccuracyScorerLLM } from '../../src/scorers/judge/tool-calls/tool-call-accuracy.ts'
import type { Evaluation } from '../../src/model/score.ts'
import type { Scorer, ScorerInput } from '../../src/scoring/scorer.ts'
import { createFakeJudge } from '../../src/testing/fake-judge.ts'
import type { TextModel } from '../../src/testing/text-model.ts'
import { hostileTexts } from './hostile-texts.ts'

const context = ['It rains.']
const makers: Record<string, (model: TextModel) => Scorer> = {
  answer_relevancy: (model) => createAnswerRelevancyScorer({ model }),
  completeness: (model) => createCompletenessScorer({ model }),
  contextual_recall: (model) => createContextualRecallScorer({ model, options: { context, groundTruth: 'It rains.' } }),
  faithfulness: (model) => createFaithfulnessScorer({ model, options: { context } }),
  hallucination: (model) => createHallucinationScorer({ model, options: { context } }),
  prompt_alignment: (model) => createPromptAlignmentScorerLLM({ model }),
  rubric: (model) => createRubricScorer({ model, criteria: [{ id: 'a', question: 'Is it good?' }] }),
  summarization: (model) => createSummarizationScorer({ model }),
  tool_call_accuracy_llm: (model) =>
    createToolCallAccuracyScorerLLM({ model, availableTools: [{ name: 'weather' }, { name: 'search' }] }),
}

/** The hostile text wherever an agent's user, tool or model can put it: question, system text, tool name, arguments, result, answer. */
function runWith(text: string): ScorerInput {
  return {
    input: {
      systemMessages: [{ role: 'system', content: `Be brief. ${text}` }],
      inputMessages: [
        { role: 'user', content: text },
        { role: 'assistant', content: text },
        { role: 'user', content: `Weather? ${text}` },
      ],
    },
    output: [
      {
        role: 'assistant',
        content: [{ type: 'tool-call', toolCallId: '1', toolName: `search${text}`, args: { query: text } }],
      },
      { role: 'tool', content: [{ type: 'tool-result', toolCallId: '1', toolName: `search${text}`, result: text }] },
      { role: 'assistant', content: `I will not tell. ${text}` },
    ],
  }
}

async function evaluate(scorer: Scorer, input: ScorerInput): Promise<Evaluation> {
  return scorer.run(input).then(
    ({ evaluation }) => evaluation,
    (error: { evaluation: Evaluation }) => error.evaluation,
  )
}

function valueOf({ score }: Evaluation): number | undefined {
  return score.status === 'scored' ? score.value : undefined
}

describe.each(Object.entries(makers))('%s against 200 hostile texts', (_, make) => {
  it('is not raised by any of them if the judge obeys everything outside the marks', async () => {
    const model = createFakeJudge('obedient')
    const scorer = make(model)
    const plain = await evaluate(scorer, runWith('Nothing special.'))
    const mark = /^The mark is ([0-9a-f]{12})\.$/m.exec(model.calls[0]?.prompt ?? '')?.[1] ?? ''
    expect(mark).toHaveLength(12)
    const texts = hostileTexts(mark)
    expect(texts).toHaveLength(200)
    const values = new Set<number | undefined>()
    for (const text of texts) values.add(valueOf(await evaluate(scorer, runWith(text))))
    const plainValue = valueOf(plain)
    expect(plainValue).toBe(scorer.better === 'higher' ? 0 : 1)
    expect(values).toEqual(new Set([plainValue]))
    expect(new Set(model.calls.map(({ instructions }) => instructions)).size).toBeLessThanOrEqual(2)
  })
})

const makeOwn = (model: TextModel) =>
  createScorer({ id: 'mine', description: 'Good or bad.', version: 1, judge: { model } })
    .analyze({
      description: 'Good or bad.',
      outputSchema: z.object({ verdict: z.enum(['good', 'bad']) }),
      createPrompt: ({ agentRun, quote }) => `Is this answer good?\n${quote(agentRun.output ?? '')}`,
    })
    .generateScore(({ results }) => (results.analyzeStepResult.verdict === 'good' ? 1 : 0))

describe('a custom scorer whose prompt step quotes the run', () => {
  it('is raised by none of 200 hostile texts if the judge obeys everything outside the marks', async () => {
    const scorer = makeOwn(createFakeJudge('obedient'))
    const values = new Set<number | undefined>()
    for (const text of hostileTexts('f'.repeat(12))) values.add(valueOf(await evaluate(scorer, runWith(text))))
    expect(values).toEqual(new Set([0]))
  })
})
