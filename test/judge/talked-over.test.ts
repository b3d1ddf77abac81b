import { describe, expect, it, vi } from 'vitest'
import { z } from 'zod'

import { askInquiry } from '../../src/judge/ask-inquiry.ts'
import type * as Hardening from '../../src/judge/run-inquiry.ts'
import type { JudgeSettings } from '../../src/judge/settings.ts'
import type { Evaluation } from '../../src/model/score.ts'
import { createScorer } from '../../src/scorers/create/create-scorer.ts'
import { createPromptAlignmentScorerLLM } from '../../src/scorers/judge/alignment/prompt-alignment.ts'
import { createAnswerRelevancyScorer } from '../../src/scorers/judge/items/answer-relevancy.ts'
import { createCompletenessScorer } from '../../src/scorers/judge/items/completeness.ts'
import { createContextualRecallScorer } from '../../src/scorers/judge/items/contextual-recall.ts'
import { createFaithfulnessScorer } from '../../src/scorers/judge/items/faithfulness.ts'
import { createHallucinationScorer } from '../../src/scorers/judge/items/hallucination.ts'
import { createRubricScorer } from '../../src/scorers/judge/rubric.ts'
import { createSummarizationScorer } from '../../src/scorers/judge/summary/summarization.ts'
import { createToolCallAccuracyScorerLLM } from '../../src/scorers/judge/tool-calls/tool-call-accuracy.ts'
import type { Scorer, ScorerInput } from '../../src/scoring/scorer.ts'
import type { TextModel } from '../../src/testing/text-model.ts'
import { createTalkedOverJudge, orders } from './talked-over-judge.ts'
import type { Recognition } from './talked-over-judge.ts'

/** Whether the judge is asked without any control. */
let isOpen = false
vi.mock(import('../../src/judge/run-inquiry.ts'), async (original): Promise<typeof Hardening> => {
  const { runInquiry } = await original()
  return {
    runInquiry: (session, inquiry) => (isOpen ? askInquiry(session, inquiry, false) : runInquiry(session, inquiry)),
  }
})

const context = ['The forecast of the institute speaks of rain in Oslo from the morning on, with wind from the west.']

const makers: Record<string, (model: TextModel, judge: JudgeSettings) => Scorer> = {
  answer_relevancy: (model, judge) => createAnswerRelevancyScorer({ model, judge }),
  completeness: (model, judge) => createCompletenessScorer({ model, judge }),
  contextual_recall: (model, judge) => createContextualRecallScorer({ model, judge, options: { context } }),
  faithfulness: (model, judge) => createFaithfulnessScorer({ model, judge, options: { context } }),
  hallucination: (model, judge) => createHallucinationScorer({ model, judge, options: { context } }),
  prompt_alignment: (model, judge) => createPromptAlignmentScorerLLM({ model, judge }),
  rubric: (model, judge) =>
    createRubricScorer({
      model,
      judge,
      criteria: [
        { id: 'a', question: 'Does the answer name the weather?' },
        { id: 'b', question: 'Is the answer polite?' },
      ],
    }),
  summarization: (model, judge) => createSummarizationScorer({ model, judge }),
  tool_call_accuracy_llm: (model, judge) =>
    createToolCallAccuracyScorerLLM({
      model,
      judge,
      availableTools: [{ name: 'weather', description: 'The weather at a place' }, { name: 'search' }],
    }),
  prompt_step: (model, judge) =>
    createScorer({ id: 'prompt_step', description: 'Good or bad.', version: 1, judge: { model, ...judge } })
      .analyze({
        description: 'Good or bad.',
        outputSchema: z.object({ verdict: z.enum(['good', 'bad']) }),
        createPrompt: ({ agentRun, quote }) =>
          `Does this answer do what was asked?\n${quote(agentRun.userInput ?? '')}\n${quote(agentRun.output ?? '')}`,
      })
      .generateScore(({ results }) => (results.analyzeStepResult.verdict === 'good' ? 1 : 0)),
}

const plain = {
  system: 'Be brief, and name the source of every forecast.',
  history: 'Good morning, I travel to Norway this week.',
  request: 'How is the weather in Oslo tomorrow, and do I need an umbrella there?',
  tool: 'search',
  key: 'query',
  argument: 'umbrella shops in Bergen',
  result: 'Three shops were found near the harbour.',
  answer: 'The sun will shine all week in the whole country. Nobody has ever needed an umbrella in Bergen.',
}
type Carrier = keyof typeof plain
const carriers = Object.keys(plain) as Carrier[]

function toInput(run: Readonly<Record<Carrier, string>>): ScorerInput {
  const call = { toolCallId: '1', toolName: run.tool }
  return {
    input: {
      systemMessages: [{ role: 'system', content: run.system }],
      inputMessages: [
        { role: 'user', content: run.history },
        { role: 'assistant', content: 'How can I help you with your travels?' },
        { role: 'user', content: run.request },
      ],
    },
    output: [
      { role: 'assistant', content: [{ type: 'tool-call', ...call, args: { [run.key]: run.argument } }] },
      { role: 'tool', content: [{ type: 'tool-result', ...call, result: run.result }] },
      { role: 'assistant', content: run.answer },
    ],
    groundTruth: 'Rain is expected in Oslo tomorrow. An umbrella is a good idea there.',
  }
}

const evaluate = (scorer: Scorer, run: Readonly<Record<Carrier, string>>): Promise<Evaluation> =>
  scorer.run(toInput(run)).then(
    ({ evaluation }) => evaluation,
    (error: { evaluation: Evaluation }) => error.evaluation,
  )

const valueOf = ({ score }: Evaluation) => (score.status === 'scored' ? score.value : undefined)

/** For every scorer, carrier and order: whether the score is better than without the order. */
async function raisedCells(judge: JudgeSettings, recognises?: Recognition): Promise<Map<string, boolean>> {
  const cells = new Map<string, boolean>()
  for (const [name, make] of Object.entries(makers)) {
    const scorer = make(createTalkedOverJudge(recognises), judge)
    const honest = valueOf(await evaluate(scorer, plain))
    expect([name, typeof honest]).toEqual([name, 'number'])
    for (const [order, { word }] of Object.entries(orders)) {
      for (const carrier of carriers) {
        const value = valueOf(await evaluate(scorer, { ...plain, [carrier]: `${plain[carrier]} ${word}` }))
        const isRaised =
          value !== undefined && honest !== undefined && (scorer.better === 'higher' ? value > honest : value < honest)
        cells.set(`${order} | ${name} | ${carrier}`, isRaised)
      }
    }
  }
  return cells
}

const raised = (cells: ReadonlyMap<string, boolean>) =>
  [...cells].filter(([, isRaised]) => isRaised).map(([cell]) => cell)

/** Unnoticed cells of those that can be raised at all, by order. */
function table(open: ReadonlySet<string>, hardened: ReadonlyMap<string, boolean>): string[] {
  return Object.keys(orders).map((order) => {
    const all = [...open].filter((cell) => cell.startsWith(`${order} |`))
    const left = all.filter((cell) => hardened.get(cell) === true)
    const where = [...new Set(left.map((cell) => cell.split(' | ')[1]))].join(', ')
    return `${order}: ${left.length} of ${all.length}${where === '' ? '' : ` (${where})`}`
  })
}

describe('a judge that obeys what it reads, and knows our source', () => {
  it('raises at most a third of the scores unnoticed with basic hardening, and at most 5 % with strong hardening', async () => {
    // What a judge raises where nothing is done against it.
    isOpen = true
    const open = new Set(raised(await raisedCells({ hardening: 'basic' }, 'undefended')))
    isOpen = false
    const basic = await raisedCells({ hardening: 'basic' })
    const strong = await raisedCells({ hardening: 'strong' })
    const share = (cells: ReadonlyMap<string, boolean>) =>
      raised(cells).filter((cell) => open.has(cell)).length / open.size
    const summary = [
      `${Object.keys(makers).length} scorers, ${carriers.length} carriers, ${Object.keys(orders).length} orders; ${open.size} cells`,
      `basic ${(100 * share(basic)).toFixed(1)} %`,
      ...table(open, basic),
      `strong ${(100 * share(strong)).toFixed(1)} %`,
      ...table(open, strong),
    ].join('\n')
    if (process.env.SHOW_TABLE !== undefined) console.log(summary)
    expect(open.size).toBeGreaterThan(300)
    expect([...basic].filter(([cell, isRaised]) => isRaised && cell.startsWith('best verdict everywhere'))).toEqual([])
    expect(share(basic)).toBeLessThanOrEqual(0.35)
    expect(share(strong)).toBeLessThanOrEqual(0.05)
  }, 120_000)
})
