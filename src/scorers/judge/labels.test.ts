import { describe, expect, it } from 'vitest'

import { resolveOptions } from '../../engine/config/options.ts'
import type { Scored } from '../../model/score.ts'
import type { ScorerInput } from '../../scoring/scorer.ts'
import type { Scorer } from '../../scoring/scorer.ts'
import { evaluate } from '../../scoring/evaluate.ts'
import { toRunInput } from '../../scoring/given/run-input.ts'
import type { ScriptedVerdict, ScriptedVerdicts } from '../../testing/judge-reply.ts'
import { createScriptedJudge } from '../../testing/scripted-judge.ts'
import { createPromptAlignmentScorerLLM } from './alignment/prompt-alignment.ts'
import { createFaithfulnessScorer } from './items/faithfulness.ts'
import { createHallucinationScorer } from './items/hallucination.ts'
import { createSummarizationScorer } from './summary/summarization.ts'
import { createToolCallAccuracyScorerLLM } from './tool-calls/tool-call-accuracy.ts'

const context = ['It rains.']
const call = (index: number) => ({ type: 'tool-call', toolCallId: `${index}`, toolName: 'weather', args: {} })
const claims = (supported: number, notStated: number, contradicted: number): ScriptedVerdicts => {
  const verdicts = [
    ...Array.from({ length: supported }, () => 'supported'),
    ...Array.from({ length: notStated }, () => 'not_stated'),
    ...Array.from({ length: contradicted }, () => 'contradicted'),
  ]
  return {
    lists: {
      claims: verdicts.map((verdict, index) => ({ text: `claim ${index}`, verdict })),
      questions: ['Is it so?'],
    },
    verdicts: { q1: 'yes' },
  }
}

async function labelOf(scorer: Scorer, input: ScorerInput = { input: 'Weather?', output: 'It rains.' }) {
  const { score } = (await scorer.run(input)).evaluation
  return [(score as Scored).value, (score as Scored).label]
}

describe('the label of claims', () => {
  it.each([
    [[12, 0, 0], 'pass'],
    [[11, 0, 1], 'fail'],
    [[4, 1, 0], 'fail'],
    [[0, 1, 0], 'fail'],
  ] as const)('with %j supported, not stated and contradicted ones is %s', async ([good, lacking, wrong], label) => {
    const model = createScriptedJudge(claims(good, lacking, wrong))
    const share = Math.round((100 * good) / (good + lacking + wrong)) / 100
    expect(await labelOf(createFaithfulnessScorer({ model, options: { context } }))).toEqual([share, label])
    const hallucination = createHallucinationScorer({ model, options: { context } })
    expect((await labelOf(hallucination))[1]).toBe(label)
    const [value, ofSummary] = await labelOf(createSummarizationScorer({ model }))
    expect([value, ofSummary]).toEqual([share, label])
  })

  it('is decided by the value if a pass mark was configured, on the scorer or on its entry', async () => {
    const model = createScriptedJudge(claims(11, 0, 1))
    const scorer = createHallucinationScorer({ model, options: { context } })
    expect(await labelOf(scorer)).toEqual([0.08, 'fail'])
    expect(await labelOf(createHallucinationScorer({ model, passAt: 0.3, options: { context } }))).toEqual([
      0.08,
      'pass',
    ])
    const { run } = toRunInput({ input: 'Weather?', output: 'It rains.' })
    const labels = []
    for (const entry of [scorer, { scorer }, { scorer, passAt: 0.3 }, { scorer, passAt: 0.05 }]) {
      const [{ about, passAt } = expect.fail()] = resolveOptions({ scorers: [entry] }).scorers
      const { score } = await evaluate(scorer, run, { about, ...(passAt !== undefined && { passAt }) })
      labels.push((score as Scored).label)
    }
    expect(labels).toEqual(['fail', 'fail', 'pass', 'fail'])
  })
})

/** A scorer whose judge finds everything fine but the intent. */
const answering = (intent: string) =>
  createPromptAlignmentScorerLLM({
    model: createScriptedJudge({
      verdicts: { 'user.intent': intent, 'user.completeness': '1', 'user.appropriateness': '1' },
      lists: { userRequirements: [{ text: 'as bullets', verdict: 'yes' }] },
    }),
  })

describe('the label of other judge scorers', () => {
  it('is fail if a response misses what was asked, whatever else is fine', async () => {
    expect(await labelOf(answering('0.25'))).toEqual([0.7, 'fail'])
    expect(await labelOf(answering('0.5'))).toEqual([0.8, 'pass'])
  })

  it('is fail if a tool was not called without which the request cannot be served', async () => {
    const tools = ['weather', 'search', 'book'].map((name) => ({ name }))
    const output = [{ role: 'assistant', content: [call(1), call(2), call(3), { type: 'text', text: 'Booked.' }] }]
    const judged = (missing: ScriptedVerdict, missingTools: 'count' | 'report') =>
      createToolCallAccuracyScorerLLM({
        model: createScriptedJudge({
          verdicts: { call_1: 'appropriate', call_2: 'appropriate', call_3: 'appropriate', missing },
        }),
        availableTools: tools,
        missingTools,
      })
    const some = { verdict: 'some', tools: ['book'] }
    expect(await labelOf(judged('none', 'count'), { input: 'Book it.', output })).toEqual([1, 'pass'])
    expect(await labelOf(judged(some, 'count'), { input: 'Book it.', output })).toEqual([0.75, 'fail'])
    expect(await labelOf(judged(some, 'report'), { input: 'Book it.', output })).toEqual([1, 'pass'])
  })
})
