import { describe, expect, it } from 'vitest'

import type { JudgeSettings } from '../../src/judge/settings.ts'
import { createContextualRecallScorer } from '../../src/scorers/judge/items/contextual-recall.ts'
import { createFaithfulnessScorer } from '../../src/scorers/judge/items/faithfulness.ts'
import { createHallucinationScorer } from '../../src/scorers/judge/items/hallucination.ts'
import { createPromptAlignmentScorerLLM } from '../../src/scorers/judge/alignment/prompt-alignment.ts'
import { createRubricScorer } from '../../src/scorers/judge/rubric.ts'
import { createToolCallAccuracyScorerLLM } from '../../src/scorers/judge/tool-calls/tool-call-accuracy.ts'
import { toRunInput } from '../../src/scoring/given/run-input.ts'
import type { Evaluation } from '../../src/model/score.ts'
import type { Scorer, ScorerInput } from '../../src/scoring/scorer.ts'
import { createFakeJudge } from '../../src/testing/fake-judge.ts'
import { readJudgePrompt } from '../../src/testing/judge-prompt.ts'
import { judgeReply } from '../../src/testing/judge-reply.ts'
import type { ScriptedVerdicts } from '../../src/testing/judge-reply.ts'
import { createScriptedJudge } from '../../src/testing/scripted-judge.ts'
import type { TextModel, TextModelCall } from '../../src/testing/text-model.ts'

const availableTools = ['search_documents', 'get_weather', 'read_file', 'send_mail'].map((name) => ({ name }))
const toolAt = (index: number) => availableTools[index % availableTools.length]?.name ?? ''

/** A run with the given number of calls, each with a result of the given number of characters. */
function runOf(calls: number, resultLength = 150): ScorerInput {
  const messages = Array.from({ length: calls }, (_, index) => {
    const call = { toolCallId: `${index}`, toolName: toolAt(index) }
    const result = `result-${index + 1} ${'x'.repeat(resultLength)}`
    return [
      { role: 'assistant', content: [{ type: 'tool-call', ...call, args: { query: `query-${index + 1}` } }] },
      { role: 'tool', content: [{ type: 'tool-result', ...call, result }] },
    ]
  })
  return {
    input: {
      systemMessages: [{ role: 'system', content: 'Be brief.' }],
      inputMessages: [{ role: 'user', content: 'How is the weather in Oslo?' }],
    },
    output: [...messages.flat(), { role: 'assistant', content: 'It is sunny.' }],
  }
}

const evaluate = (scorer: Scorer, input: ScorerInput): Promise<Evaluation> =>
  scorer.run(input).then(
    ({ evaluation }) => evaluation,
    (error: { evaluation: Evaluation }) => error.evaluation,
  )

const bytesOf = ({ instructions, prompt }: TextModelCall) => Buffer.byteLength(instructions) + Buffer.byteLength(prompt)
const occurrences = (text: string, part: string) => text.split(part).length - 1
const askedIds = ({ prompt }: TextModelCall) => readJudgePrompt(prompt).questions.map(({ id }) => id)
const callIdsAsked = (call: TextModelCall) => askedIds(call).filter((id) => id.startsWith('call_'))

const options = { context: ['It is sunny.'] }
const makers: Record<string, (model: TextModel, judge: JudgeSettings) => Scorer> = {
  tool_call_accuracy_llm: (model, judge) => createToolCallAccuracyScorerLLM({ model, judge, availableTools }),
  prompt_alignment: (model, judge) => createPromptAlignmentScorerLLM({ model, judge }),
  faithfulness: (model, judge) => createFaithfulnessScorer({ model, judge, options }),
  hallucination: (model, judge) => createHallucinationScorer({ model, judge, options }),
  contextual_recall: (model, judge) =>
    createContextualRecallScorer({ model, judge, options: { ...options, groundTruth: 'It is sunny.' } }),
  rubric: (model, judge) => createRubricScorer({ model, judge, criteria: [{ id: 'a', question: 'Is it good?' }] }),
}

describe.each(Object.entries(makers))('%s on long runs', (_, make) => {
  it.each([
    [3, 150],
    [30, 150],
    [300, 150],
    [300, 5000],
  ])('keeps %d calls with results of %d characters within the byte budget, every name shown', async (calls, length) => {
    for (const maxPromptTokens of [12_000, 32_000]) {
      const model = createFakeJudge('lenient', { rate: 1 })
      const { score, judge } = await evaluate(make(model, { maxPromptTokens }), runOf(calls, length))
      expect(score).toMatchObject({ status: 'scored' })
      expect(Math.max(...model.calls.map(bytesOf))).toBeLessThanOrEqual(4 * maxPromptTokens)
      expect(judge?.calls).toBe(model.calls.length)
      for (const { prompt } of model.calls) {
        const names = Array.from({ length: calls }, (_name, index) => `call_${index + 1}`)
        expect(
          names.filter((name) => !new RegExp(`^${name}[:,] "${toolAt(Number(name.slice(5)) - 1)}"`, 'm').test(prompt)),
        ).toEqual([])
      }
      const isCut = model.calls.some(({ prompt }) => /\[[0-9a-f]{12}: \d+ bytes cut\]|…[0-9a-f]{12}$/m.test(prompt))
      expect(score.status === 'scored' && score.explanation?.includes('was not shown')).toBe(isCut)
    }
  })

  it('asks nothing if required parts do not fit, and names the setting to raise', async () => {
    const model = createFakeJudge('lenient')
    expect(await evaluate(make(model, { maxPromptTokens: 2048 }), runOf(1000))).toMatchObject({
      score: {
        status: 'skipped',
        reason: 'not-applicable',
        message: expect.stringMatching(/raise judge\.(?:maxPromptTokens|maxCallsPerScore)/i),
      },
    })
    expect(model.calls).toHaveLength(0)
  })
})

/** Every third call is bad, so that any verdict on the wrong call changes the score. */
const verdictAt = (index: number) => (index % 3 === 2 ? 'inappropriate' : 'appropriate')
const found = (calls: number): ScriptedVerdicts => ({
  verdicts: Object.fromEntries([
    ['missing', 'none'],
    ...Array.from({ length: calls }, (_, index) => [`call_${index + 1}`, verdictAt(index)]),
  ]),
})

/** An answer in a reply. */
interface Answer {
  readonly id: string
  readonly verdict: string
}

function judging(
  calls: number,
  judge: JudgeSettings = {},
  mutate: (answers: readonly Answer[], call: TextModelCall) => readonly Answer[] = (answers) => answers,
) {
  const model = createScriptedJudge((call) => {
    const asked = new Set(askedIds(call))
    const reply: { readonly answers: readonly Answer[] } = JSON.parse(judgeReply(found(calls)))
    return {
      json: {
        answers: mutate(
          reply.answers.filter(({ id }) => asked.has(id)),
          call,
        ),
      },
    }
  })
  return { model, scorer: createToolCallAccuracyScorerLLM({ model, judge, availableTools }) }
}

describe('tool call accuracy by judge, when the verdicts do not fit into one reply', () => {
  it.each([
    [3, 1],
    [30, 1],
    [119, 1],
    [120, 2],
    [300, 3],
  ])('asks about %d calls in %d judge calls, each id once, the rules once', async (calls, parts) => {
    const { scorer, model } = judging(calls)
    const run = toRunInput(runOf(calls)).run
    expect(scorer.judge?.estimate(run).calls).toBe(parts)
    const { score } = await evaluate(scorer, runOf(calls))
    const good = Array.from({ length: calls }, (_, index) => verdictAt(index)).filter((one) => one === 'appropriate')
    expect(score).toMatchObject({ status: 'scored', value: Math.round((good.length / calls) * 100) / 100 })
    expect(model.calls).toHaveLength(parts)
    expect(model.calls.flatMap(callIdsAsked)).toEqual(Array.from({ length: calls }, (_, index) => `call_${index + 1}`))
    for (const call of model.calls) {
      expect(occurrences(call.prompt, 'Was this tool call right?')).toBe(1)
      expect(call.maxOutputTokens).toBeGreaterThanOrEqual(Math.min(8192, 512 + 64 * askedIds(call).length))
      expect(call.maxOutputTokens).toBeLessThanOrEqual(8192)
      const [first = '', last = ''] = [callIdsAsked(call)[0], callIdsAsked(call).at(-1)]
      const results = [...call.prompt.matchAll(/"result-(\d+) /g)].map(([, number]) => `call_${number}`)
      expect([results[0], results.at(-1)]).toEqual([first, last])
    }
  })

  it('gives the same score for verdicts in any order, repeated, or with invented ones', async () => {
    const { scorer } = judging(300, {}, (answers) => [
      ...answers.toReversed(),
      ...answers,
      ...['call_301', 'qffff', 'q'].map((id) => ({ id, verdict: 'appropriate' })),
    ])
    expect((await evaluate(scorer, runOf(300))).score).toMatchObject({ status: 'scored', value: 0.67 })
  })

  it('ignores verdicts on calls that this part did not ask about', async () => {
    const { scorer } = judging(300, {}, (answers, { index }) =>
      index === 0 ? [...answers, ...['call_300', 'call_299'].map((id) => ({ id, verdict: 'appropriate' }))] : answers,
    )
    expect((await evaluate(scorer, runOf(300))).score).toMatchObject({ status: 'scored', value: 0.67 })
  })

  it('asks once more about missing calls, in the call that is reserved for it, and then fails', async () => {
    const lost = new Set(['call_7', 'call_250'])
    const withoutLost = (answers: readonly Answer[]) => answers.filter(({ id }) => !lost.has(id))
    const once = judging(300, {}, (answers, { index }) => (index === 3 ? answers : withoutLost(answers)))
    expect((await evaluate(once.scorer, runOf(300))).score).toMatchObject({ status: 'scored', value: 0.67 })
    expect(once.model.calls.map(callIdsAsked)[3]).toEqual(['call_7', 'call_250'])
    const always = judging(300, {}, withoutLost)
    expect(await evaluate(always.scorer, runOf(300))).toMatchObject({
      score: {
        status: 'failed',
        code: 'judge-unanswered',
        message: expect.stringContaining('call_7 has no verdict; call_250 has no verdict'),
      },
      judge: { calls: 4 },
    })
  })

  it('fails if repairs of the first parts leave no call for the last', async () => {
    const model = createScriptedJudge(({ index }) => (index % 2 === 0 ? 'All of them are fine.' : found(300)))
    const scorer = createToolCallAccuracyScorerLLM({ model, availableTools })
    expect(await evaluate(scorer, runOf(300))).toMatchObject({
      score: { status: 'failed', code: 'judge-unanswered', message: expect.stringContaining('maxCallsPerScore') },
      judge: { calls: 4 },
    })
  })

  it('asks for a reasoning only if it is shown: not for each of many good calls', async () => {
    const prompts = [judging(20), judging(21)]
    await Promise.all(prompts.map(({ scorer }, index) => evaluate(scorer, runOf(20 + index))))
    expect(prompts.map(({ model }) => model.calls[0]?.prompt.includes('Leave "reasoning" empty with'))).toEqual([
      false,
      true,
    ])
  })

  it('asks nothing about a run that needs more calls than allowed, and does with a higher limit', async () => {
    const few = judging(400)
    expect((await evaluate(few.scorer, runOf(400))).score).toMatchObject({
      status: 'skipped',
      reason: 'not-applicable',
      message: expect.stringMatching(/401 verdicts .* may give only 360.*Raise judge\.maxCallsPerScore/),
    })
    expect(few.model.calls).toHaveLength(0)
    expect((await evaluate(judging(360).scorer, runOf(360))).score.status).toBe('skipped')
    expect((await evaluate(judging(359).scorer, runOf(359))).score.status).toBe('scored')
    const more = judging(400, { maxCallsPerScore: 6 })
    expect((await evaluate(more.scorer, runOf(400))).score).toMatchObject({ status: 'scored', value: 0.67 })
  })
})

describe('a rubric of many criteria', () => {
  it('is judged in several calls, and every criterion counts', async () => {
    const criteria = Array.from({ length: 250 }, (_, index) => ({ id: `c${index}`, question: `Is it ${index}?` }))
    const verdicts = Object.fromEntries(criteria.map(({ id }, index) => [id, index < 100 ? 'pass' : 'fail']))
    const model = createScriptedJudge({ verdicts })
    const { score } = await evaluate(createRubricScorer({ model, criteria }), runOf(3))
    expect(score).toMatchObject({ status: 'scored', value: 0.4 })
    expect(model.calls).toHaveLength(3)
  })
})
