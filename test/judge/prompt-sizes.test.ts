import { describe, expect, it, vi } from 'vitest'

import { askInquiry } from '../../src/judge/ask-inquiry.ts'
import { askForWord } from '../../src/judge/controls/word-control.ts'
import type { Inquiry } from '../../src/judge/inquiry.ts'
import type * as Hardening from '../../src/judge/run-inquiry.ts'
import type { JudgeSettings } from '../../src/judge/settings.ts'
import { buildRuns } from '../../src/runs/build-runs.ts'
import { createPromptAlignmentScorerLLM } from '../../src/scorers/judge/alignment/prompt-alignment.ts'
import { createAnswerRelevancyScorer } from '../../src/scorers/judge/items/answer-relevancy.ts'
import { createCompletenessScorer } from '../../src/scorers/judge/items/completeness.ts'
import { createContextualRecallScorer } from '../../src/scorers/judge/items/contextual-recall.ts'
import { createFaithfulnessScorer } from '../../src/scorers/judge/items/faithfulness.ts'
import { createHallucinationScorer } from '../../src/scorers/judge/items/hallucination.ts'
import { createRubricScorer } from '../../src/scorers/judge/rubric.ts'
import { createSummarizationScorer } from '../../src/scorers/judge/summary/summarization.ts'
import { createToolCallAccuracyScorerLLM } from '../../src/scorers/judge/tool-calls/tool-call-accuracy.ts'
import { evaluate } from '../../src/scoring/evaluate.ts'
import { toRunInput } from '../../src/scoring/given/run-input.ts'
import type { JudgeCall, Scorer } from '../../src/scoring/scorer.ts'
import type { AgentRun } from '../../src/model/agent-run.ts'
import { readJudgePrompt } from '../../src/testing/judge-prompt.ts'
import { createFakeJudge } from '../../src/testing/fake-judge.ts'
import type { TextModel } from '../../src/testing/text-model.ts'
import { libraryNames, loadLibrary, readScenario } from '../corpus/load.ts'
import { measuredTable, onJudgesPage } from './judges-page.ts'
import { seedRandomness } from './seeded-randomness.ts'

// The key of the judge's hashes is the same in every measurement.
await vi.hoisted(async () => {
  const { TEST_KEY_VARIABLE } = await import('../../src/judge/randomness.ts')
  process.env[TEST_KEY_VARIABLE] = 'measured'
})

/** Whether the judge is asked with only one control question, which is the baseline for the cost of hardening. */
let isBare = false
vi.mock(import('../../src/judge/run-inquiry.ts'), async (original): Promise<typeof Hardening> => {
  const { runInquiry } = await original()
  return {
    runInquiry: (session, inquiry) =>
      isBare ? askInquiry(session, bare(inquiry), false) : runInquiry(session, inquiry),
  }
})

function bare(inquiry: Inquiry): Inquiry {
  const control = { ids: ['control'], text: askForWord('0123456789ab', 'yes', 'no'), verdicts: ['yes', 'no'] }
  return {
    ...inquiry,
    vary: undefined,
    questions: [...inquiry.questions, control],
    lists: (inquiry.lists ?? []).map((list) => ({ ...list, coversAll: false })),
  }
}

const options = { context: ['The forecast speaks of sun in the whole country until the end of the week.'] }
const criteria = ['Is the answer polite?', 'Does it promise only what a tool confirmed?'].map((question, index) => ({
  id: `c${index}`,
  question,
}))
const availableTools = ['search_documents', 'get_weather', 'read_file', 'send_mail'].map((name) => ({ name }))
const makers: Readonly<Record<string, (model: TextModel, judge: JudgeSettings) => Scorer>> = {
  answer_relevancy: (model, judge) => createAnswerRelevancyScorer({ model, judge }),
  completeness: (model, judge) => createCompletenessScorer({ model, judge }),
  contextual_recall: (model, judge) =>
    createContextualRecallScorer({
      model,
      judge,
      options: { ...options, groundTruth: 'It is sunny in Oslo today, and it stays so until Sunday.' },
    }),
  faithfulness: (model, judge) => createFaithfulnessScorer({ model, judge, options }),
  hallucination: (model, judge) => createHallucinationScorer({ model, judge, options }),
  prompt_alignment: (model, judge) => createPromptAlignmentScorerLLM({ model, judge }),
  rubric: (model, judge) => createRubricScorer({ model, judge, criteria }),
  summarization: (model, judge) => createSummarizationScorer({ model, judge }),
  tool_call_accuracy_llm: (model, judge) => createToolCallAccuracyScorerLLM({ model, judge, availableTools }),
}

/** A reasoning as models write them, for every answer that may have one. */
const REASONING = 'The answer says so, and the result of the second call confirms it.'

/** Prompts and replies of one score, in bytes; numbers of sentences belong to the hardening, not to the baseline. */
async function bytesOf(make: (model: TextModel) => Scorer, run: AgentRun): Promise<{ all: number; prompt: number }> {
  let [all, largest] = [0, 0]
  const onJudgeCall = ({ prompt, reply = '{}' }: JudgeCall) => {
    const user = isBare
      ? prompt.user.replaceAll(
          /^\[[0-9a-f]{8} \d+\] |, each with the number of the sentence of .*? that it comes from/gm,
          '',
        )
      : prompt.user
    const { questions, lists } = readJudgePrompt(prompt.user)
    const silent = new Set([
      ...questions.flatMap(({ shownId, isControl }) => (isControl ? [shownId] : [])),
      ...lists.flatMap(({ given }) => given),
    ])
    const answers: readonly { readonly id: string }[] = JSON.parse(reply).answers ?? []
    const promptBytes = Buffer.byteLength(prompt.instructions) + Buffer.byteLength(user)
    largest = Math.max(largest, promptBytes)
    all +=
      promptBytes + Buffer.byteLength(reply) + answers.filter(({ id }) => !silent.has(id)).length * REASONING.length
  }
  await evaluate(make(createFakeJudge('lenient', { rate: 0 })), run, { onJudgeCall })
  return { all, prompt: largest }
}

/** The recordings for the table: those of all libraries would take minutes, and the results differ by less than two points. */
const MEASURED = ['ai-7.0.173-otel', 'mastra-core-1.71.0-native', 'python-openinference-langchain-0.1.80']

const runs: readonly AgentRun[] = (process.env.ALL_RUNS === undefined ? MEASURED : libraryNames())
  .flatMap((library) => loadLibrary(library))
  .flatMap((scenario) => {
    const { spans, logs } = readScenario(scenario)
    return buildRuns(spans, { logs })
  })

/** Bytes that all recorded runs take, by scorer. */
async function spentOn(judge: JudgeSettings, isWithoutHardening = false): Promise<Map<string, number>> {
  isBare = isWithoutHardening
  const spent = new Map<string, number>()
  for (const [id, make] of Object.entries(makers)) {
    let bytes = 0
    for (const run of runs) bytes += (await bytesOf((model) => make(model, judge), run)).all
    spent.set(id, bytes)
  }
  isBare = false
  return spent
}

const sum = (spent: ReadonlyMap<string, number>) => [...spent.values()].reduce((total, bytes) => total + bytes, 0)

/** A run with the given number of calls, each with 40 bytes of arguments and a result of 150 bytes. */
function runOf(calls: number): AgentRun {
  const messages = Array.from({ length: calls }, (_, index) => {
    const call = { toolCallId: `${index}`, toolName: availableTools[index % availableTools.length]?.name ?? '' }
    return [
      { role: 'assistant', content: [{ type: 'tool-call', ...call, args: { query: `query ${'y'.repeat(20)}` } }] },
      { role: 'tool', content: [{ type: 'tool-result', ...call, result: `result ${'x'.repeat(140)}` }] },
    ]
  })
  const system = { role: 'system', content: 'Be brief.' }
  return toRunInput({
    input: { systemMessages: [system], inputMessages: [{ role: 'user', content: 'How is the weather in Oslo?' }] },
    output: [...messages.flat(), { role: 'assistant', content: 'It is sunny.' }],
  }).run
}

const more = (part: number, whole: number) => `${(100 * (part / whole - 1)).toFixed(0)} %`
const times = (part: number, whole: number) => `${(part / whole).toFixed(1)} times`
const thousands = (count: number) => count.toLocaleString('en')

describe('what docs/reference/judges.md says about prompts', () => {
  it('equals the size of prompts: bytes by number of calls', async () => {
    seedRandomness(1)
    const rows: string[][] = []
    for (const id of ['tool_call_accuracy_llm', 'prompt_alignment', 'faithfulness', 'rubric']) {
      const row = [`\`${id}\``]
      for (const calls of [3, 30, 300]) {
        const { prompt } = await bytesOf((model) => makers[id]!(model, {}), runOf(calls))
        row.push(thousands(Math.round(prompt / 100) * 100))
      }
      rows.push(row)
    }
    const written = measuredTable(['largest prompt in bytes', '3 calls', '30 calls', '300 calls'], rows)
    expect(onJudgesPage('bytes of prompts', written)).toBe(written)
  })

  it('equals the cost of hardening, over recorded runs', async () => {
    seedRandomness(1)
    const plain = await spentOn({}, true)
    const basic = await spentOn({})
    const strong = await spentOn({ hardening: 'strong' })
    const rows = [...plain].map(([id, bytes]) => {
      const [ofBasic = 0, ofStrong = 0] = [basic.get(id), strong.get(id)]
      return [`\`${id}\``, more(ofBasic, bytes), times(ofStrong, bytes)]
    })
    const all = ['all', more(sum(basic), sum(plain)), times(sum(strong), sum(plain))]
    const tokens = measuredTable(['tokens', 'more with `basic`', 'as many with `strong`'], [...rows, all])
    if (process.env.SHOW_TABLE !== undefined) console.log(`${runs.length} runs\n${tokens}`)
    expect(process.env.ALL_RUNS === undefined ? onJudgesPage('tokens', tokens) : tokens).toBe(tokens)
    expect(sum(basic) / sum(plain)).toBeLessThanOrEqual(1.25)
  }, 600_000)
})
