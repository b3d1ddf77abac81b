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
import { measuredTable, onJudgesPage } from './judges-page.ts'
import { seedRandomness } from './seeded-randomness.ts'
import { createTalkedOverJudge, orders } from './talked-over-judge.ts'
import type { Recognition } from './talked-over-judge.ts'

// The key of the judge's hashes is the same in every measurement.
await vi.hoisted(async () => {
  const { TEST_KEY_VARIABLE } = await import('../../src/judge/randomness.ts')
  process.env[TEST_KEY_VARIABLE] = 'measured'
})

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

/** The cells that the judge raises with each setting, with one run for every seed. */
interface Measured {
  /** The cells that it raises without any defence. */
  readonly open: ReadonlySet<string>
  readonly basic: readonly ReadonlyMap<string, boolean>[]
  readonly strong: readonly ReadonlyMap<string, boolean>[]
}

const SEEDS = [1, 2]

async function measure(): Promise<Measured> {
  seedRandomness(0)
  isOpen = true
  const open = new Set(raised(await raisedCells({ hardening: 'basic' }, 'undefended')))
  isOpen = false
  const basic: ReadonlyMap<string, boolean>[] = []
  const strong: ReadonlyMap<string, boolean>[] = []
  for (const seed of SEEDS) {
    seedRandomness(seed)
    basic.push(await raisedCells({ hardening: 'basic' }))
    strong.push(await raisedCells({ hardening: 'strong' }))
  }
  return { open, basic, strong }
}

/** The share of cells that are raised and not noticed, of those that can be raised at all. */
function share(open: readonly string[], runs: readonly ReadonlyMap<string, boolean>[]): number {
  const left = runs.flatMap((cells) => open.filter((cell) => cells.get(cell) === true))
  return left.length / (open.length * runs.length)
}

const percent = (part: number) => `${(100 * part).toFixed(0)} %`

function table({ open, basic, strong }: Measured): string {
  const all = [...open]
  const row = (title: string, cells: readonly string[]) => [
    title,
    String(cells.length),
    percent(share(cells, basic)),
    percent(share(cells, strong)),
  ]
  const rows = Object.keys(orders).map((order) =>
    row(
      order,
      all.filter((cell) => cell.startsWith(`${order} |`)),
    ),
  )
  return measuredTable(
    ['what the judge is talked into', 'scores', 'unnoticed with `basic`', 'with `strong`'],
    [...rows, row('all', all)],
  )
}

describe('a judge that obeys what it reads, and knows our source', () => {
  it('raises at most a third of the scores unnoticed with basic hardening, and at most 5 % with strong hardening', async () => {
    const measured = await measure()
    const { open, basic, strong } = measured
    const all = [...open]
    expect(Object.keys(makers)).toHaveLength(10)
    expect([carriers.length, Object.keys(orders).length]).toEqual([8, 16])
    expect(all.length).toBeGreaterThan(300)
    const everywhere = all.filter((cell) => cell.startsWith('best verdict everywhere'))
    expect(share(everywhere, basic)).toBe(0)
    const middling = all.filter((cell) => cell.startsWith('middle verdict everywhere'))
    expect(middling.length).toBeGreaterThan(10)
    expect([share(middling, basic), share(middling, strong)]).toEqual([0, 0])
    expect(share(all, basic)).toBeLessThanOrEqual(0.35)
    for (const order of Object.keys(orders)) {
      const cells = all.filter((cell) => cell.startsWith(`${order} |`))
      // Calls about the material and about its decoy look alike, so a judge that guesses for each of them is lucky in a quarter of all scores.
      const most = order.startsWith('praise all of a call') ? 0.25 : 0.05
      expect([order, share(cells, strong) <= most]).toEqual([order, true])
    }
    expect(share(all, strong)).toBeLessThanOrEqual(0.05)
    const written = table(measured)
    expect(onJudgesPage('what is raised', written)).toBe(written)
  }, 240_000)
})
