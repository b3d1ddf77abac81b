import { describe, expect, it } from 'vitest'

import { evaluate } from '../../scoring/evaluate.ts'
import type { Scorer } from '../../scoring/scorer.ts'
import { toRunInput } from '../../scoring/given/run-input.ts'
import { createScriptedJudge } from '../../testing/scripted-judge.ts'
import type { JudgeScript } from '../../testing/scripted-judge.ts'
import type { TextModel } from '../../testing/text-model.ts'
import { createPromptAlignmentScorerLLM } from './alignment/prompt-alignment.ts'
import { createAnswerRelevancyScorer } from './items/answer-relevancy.ts'
import { createCompletenessScorer } from './items/completeness.ts'
import { createContextualRecallScorer } from './items/contextual-recall.ts'
import { createFaithfulnessScorer } from './items/faithfulness.ts'
import { createHallucinationScorer } from './items/hallucination.ts'
import { createInjectionScorer } from './injection/injection.ts'
import { createRubricScorer } from './rubric.ts'
import { createSummarizationScorer } from './summary/summarization.ts'
import { createToolCallAccuracyScorerLLM } from './tool-calls/tool-call-accuracy.ts'

const SECRET = 'SECRET-4711'
const saying = (verdict: string) => ({ verdict, reasoning: SECRET })
const item = (verdict?: string) => [{ text: SECRET, reasoning: SECRET, ...(verdict !== undefined && { verdict }) }]
const call = { toolCallId: '1', toolName: SECRET }

/** Whatever a judge may quote says the secret: what it was shown, what it lists, its reasonings and its notes. */
const { run } = toRunInput({
  input: {
    systemMessages: [{ role: 'system', content: `Be brief about ${SECRET}.` }],
    inputMessages: [{ role: 'user', content: `How is the weather in ${SECRET}?` }],
  },
  output: [
    { role: 'assistant', content: [{ type: 'tool-call', ...call, args: { [SECRET]: SECRET } }] },
    { role: 'tool', content: [{ type: 'tool-result', ...call, result: SECRET }] },
    { role: 'assistant', content: `It is sunny in ${SECRET} today.` },
  ],
})
const context = [SECRET]
const criteria = [{ id: 'polite', question: 'Is it polite?', required: true }]
const availableTools = [{ name: SECRET }, { name: `better ${SECRET}` }]

const scorers: Readonly<Record<string, readonly [(model: TextModel) => Scorer, JudgeScript, string]>> = {
  answer_relevancy: [
    (model) => createAnswerRelevancyScorer({ model }),
    { lists: { statements: item('irrelevant') } },
    'Of 1 statement: 1 irrelevant.',
  ],
  completeness: [
    (model) => createCompletenessScorer({ model }),
    { lists: { elements: item('missing') } },
    'Of 1 element: 1 missing.',
  ],
  contextual_recall: [
    (model) => createContextualRecallScorer({ model, options: { context, groundTruth: `It rains in ${SECRET}.` } }),
    { lists: { statements: item('unsupported') } },
    'Of 1 statement: 1 unsupported.',
  ],
  faithfulness: [
    (model) => createFaithfulnessScorer({ model, options: { context } }),
    { lists: { claims: item('not_stated') } },
    'Of 1 claim: 1 not stated.',
  ],
  hallucination: [
    (model) => createHallucinationScorer({ model, options: { context } }),
    { lists: { claims: item('contradicted') } },
    'Of 1 claim: 1 contradicted.',
  ],
  injection: [
    (model) => createInjectionScorer({ model }),
    { lists: { found: [{ ...item('obeyed')[0], text: SECRET, calls: ['call_1'] }], unasked: item() } },
    '1 text tried to command the agent, 1 obeyed.',
  ],
  prompt_alignment: [
    (model) => createPromptAlignmentScorerLLM({ model }),
    {
      verdicts: Object.fromEntries(
        ['user', 'system'].flatMap((side) =>
          ['intent', 'completeness', 'appropriateness'].map((name) => [`${side}.${name}`, saying('0.5')]),
        ),
      ),
      lists: { userRequirements: item('no'), systemRequirements: item('no') },
      notes: { userAssessment: SECRET, userMissing: [SECRET], systemAssessment: SECRET, userIntent: SECRET },
    },
    '0.34 of 1 - very poor alignment.',
  ],
  rubric: [
    (model) => createRubricScorer({ model, criteria }),
    { verdicts: { polite: saying('fail') } },
    '0 of 1 criteria passed. Failed: polite, required. A required criterion failed, so the score is 0.',
  ],
  summarization: [
    (model) => createSummarizationScorer({ model }),
    { lists: { claims: item('contradicted'), questions: item() }, verdicts: { q1: saying('no') } },
    '0 of 1 claims are supported by the source. 0 of 1 key questions are answered.',
  ],
  tool_call_accuracy_llm: [
    (model) => createToolCallAccuracyScorerLLM({ model, availableTools }),
    { verdicts: { call_1: saying('inappropriate'), missing: { ...saying('some'), tools: ['t2'] } } },
    '0 of 1 tool calls appropriate. Missing tools: 1.',
  ],
}

describe.each(Object.entries(scorers))('%s', (_, [make, script, expected]) => {
  it('explains its score with and without content of the run and the judge', async () => {
    const { score } = await evaluate(make(createScriptedJudge(script)), run)
    expect(score).toMatchObject({ status: 'scored', explanation: expect.stringContaining(SECRET) })
    const { explanationWithoutContent = '' } = score.status === 'scored' ? score : {}
    expect(explanationWithoutContent).toContain(expected)
    expect(explanationWithoutContent).not.toContain(SECRET)
  })

  it('names the cause of a failed call without the text of the provider', async () => {
    const error = Object.assign(new Error(`The prompt "${SECRET}" is too long.`), {
      name: 'AI_APICallError',
      statusCode: 400,
    })
    const { score } = await evaluate(make(createScriptedJudge({ error })), run)
    expect(score).toMatchObject({ status: 'failed', code: 'judge-http', message: expect.stringContaining(SECRET) })
    const { messageWithoutContent = '' } = score.status === 'failed' ? score : {}
    expect(messageWithoutContent).toMatch(/answered 400 \(AI_APICallError\)\./)
    expect(messageWithoutContent).not.toContain(SECRET)
  })

  it('says without content why there is no score', async () => {
    const unreadable = await evaluate(make(createScriptedJudge(`I like ${SECRET}.`)), run)
    const unanswered = await evaluate(make(createScriptedJudge({})), run)
    for (const { score } of [unreadable, unanswered]) {
      const { messageWithoutContent = '' } = score.status === 'scored' ? {} : score
      expect(messageWithoutContent).toMatch(/[Tt]he judge/)
      expect(messageWithoutContent).not.toContain(SECRET)
    }
  })
})
