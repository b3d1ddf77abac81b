import { describe, expect, it } from 'vitest'

import { call, runOf } from '../../../../test/fixtures/code-runs.ts'
import { evaluate } from '../../../scoring/evaluate.ts'
import { readJudgePrompt } from '../../../testing/judge-prompt.ts'
import { createScriptedJudge } from '../../../testing/scripted-judge.ts'
import type { ScriptedVerdicts } from '../../../testing/judge-reply.ts'
import { createPromptAlignmentScorerLLM } from './prompt-alignment.ts'
import type { PromptAlignmentOptions } from './prompt-alignment.ts'

const request = { role: 'user', content: 'List three advantages of TypeScript as bullets.' }
const output = { role: 'assistant', text: 'TypeScript has types.' }
const withSystem = {
  inputMessages: [request],
  systemMessages: [{ role: 'system', content: 'Always answer in rhymes.' }],
}

const levels = (side: string, intent: string, completeness: string, appropriateness: string) => ({
  [`${side}.intent`]: intent,
  [`${side}.completeness`]: completeness,
  [`${side}.appropriateness`]: appropriateness,
})
const requirements = (...verdicts: readonly ('yes' | 'partly' | 'no')[]) =>
  verdicts.map((verdict, index) => ({ text: `requirement ${index + 1}`, verdict }))

function judging(found: ScriptedVerdicts, options: PromptAlignmentOptions = {}) {
  const model = createScriptedJudge(found)
  return { model, scorer: createPromptAlignmentScorerLLM({ model, options }) }
}

const perfect = {
  verdicts: { ...levels('user', '1', '1', '1'), ...levels('system', '1', '1', '1') },
  lists: { userRequirements: requirements('yes'), systemRequirements: requirements('yes') },
}

describe('prompt alignment', () => {
  it.each([
    // intent .4, requirements .3, completeness .2, appropriateness .1
    { levels: ['1', '1', '1'], met: ['yes', 'yes'], score: 1, band: 'excellent' },
    { levels: ['1', '0.75', '0.5'], met: ['yes', 'yes'], score: 0.9, band: 'excellent' },
    { levels: ['1', '0.5', '0.25'], met: ['yes', 'no'], score: 0.68, band: 'moderate' },
    { levels: ['0.75', '0.75', '0.75'], met: ['yes', 'yes', 'no'], score: 0.73, band: 'good' },
    { levels: ['0.5', '0.5', '1'], met: ['no'], score: 0.4, band: 'poor' },
    { levels: ['0', '0', '0'], met: ['no', 'no'], score: 0, band: 'very poor' },
    { levels: ['1', '1', '1'], met: [], score: 1, band: 'excellent' },
  ] as const)('user: $levels and requirements $met give $score', async ({ levels: [a, b, c], met, score, band }) => {
    const { scorer, model } = judging(
      { verdicts: levels('user', a, b, c), lists: { userRequirements: requirements(...met) } },
      { evaluationMode: 'user' },
    )
    const result = await scorer.run({ input: [request], output })
    expect(result.score).toBe(score)
    expect(result.evaluation.score).toMatchObject({ status: 'scored', band })
    expect(model.calls).toHaveLength(1)
  })

  it('counts a requirement that is met in part half, and does not find it unmet', async () => {
    const { scorer } = judging(
      {
        verdicts: levels('user', '1', '1', '1'),
        lists: { userRequirements: requirements('yes', 'partly', 'no') },
      },
      { evaluationMode: 'user' },
    )
    const { score, evaluation } = await scorer.run({ input: [request], output })
    expect(score).toBe(0.85)
    expect(evaluation.score).toMatchObject({
      findings: [
        { verdict: 'fulfilled', rating: 'good' },
        { verdict: 'partly_fulfilled', rating: 'open', text: 'requirement 2' },
        { verdict: 'not_fulfilled', rating: 'bad' },
      ],
    })
  })

  it('judges a run that ended in a call in place of an answer, and says which', async () => {
    const { scorer, model } = judging(perfect, { evaluationMode: 'user' })
    const run = runOf({ output: '', toolCalls: [call('transfer')] })
    expect(await evaluate(scorer, run)).toMatchObject({ score: { value: 1 } })
    expect(await evaluate(scorer, run, { handOver: ['transfer'] })).toMatchObject({ score: { value: 1 } })
    const shown = model.calls.map(({ prompt }) => readJudgePrompt(prompt).sections.get("the agent's response"))
    expect(shown).toEqual([
      '(no text; its last call was "transfer", which succeeded)',
      '(no text; it handed the user over to a person by "transfer")',
    ])
  })

  it('system: intent .35, requirements .35, completeness .15, appropriateness .15', async () => {
    const { scorer } = judging(
      { verdicts: levels('system', '1', '0', '0'), lists: { systemRequirements: requirements('yes', 'no') } },
      { evaluationMode: 'system' },
    )
    expect((await scorer.run({ input: withSystem, output })).score).toBe(0.53)
  })

  it('both: 0.7 × user + 0.3 × system, each judged on its own, in one call', async () => {
    const { scorer, model } = judging({
      verdicts: { ...levels('user', '1', '1', '1'), ...levels('system', '0', '0', '0') },
      lists: { userRequirements: requirements('yes'), systemRequirements: requirements('no') },
      notes: { userIntent: 'a list', userMissing: ['bullets'], systemAssessment: 'It does not rhyme.' },
    })
    const result = await scorer.run({ input: withSystem, output })
    expect(result.score).toBe(0.7)
    expect(model.calls).toHaveLength(1)
    expect(result.analyzeStepResult).toMatchObject({
      user: {
        intentAlignment: { score: 1, primaryIntent: 'a list', isAddressed: true },
        requirementsFulfillment: {
          requirements: [{ requirement: 'requirement 1', isFulfilled: true }],
          overallScore: 1,
        },
        completeness: { score: 1, missingElements: ['bullets'] },
        responseAppropriateness: { score: 1, formatAlignment: true, toneAlignment: true },
      },
      system: { intentAlignment: { score: 0, isAddressed: false }, overallAssessment: 'It does not rhyme.' },
    })
    expect(result.reason).toMatch(
      /^0\.7 of 1 - good alignment\..*It does not rhyme\. Missing: bullets; requirement 1\. It fails for what was found, whatever its score\.$/,
    )
  })

  it('reports form and tone separately if the judge does, and otherwise derives both from the level', async () => {
    const notes = { userForm: 'No.', userTone: '"yes"', systemForm: 'hardly' }
    const { scorer } = judging({ ...perfect, notes })
    expect((await scorer.run({ input: withSystem, output })).analyzeStepResult).toMatchObject({
      user: { responseAppropriateness: { score: 1, formatAlignment: false, toneAlignment: true } },
      system: { responseAppropriateness: { score: 1, formatAlignment: true, toneAlignment: true } },
    })
  })

  it('both without system instructions is scored and explained as user', async () => {
    const { scorer } = judging(perfect)
    const result = await scorer.run({ input: [request], output })
    expect(result.score).toBe(1)
    expect(result.analyzeStepResult).toHaveProperty('intentAlignment')
    expect(result.reason).toContain("no system instructions, so only the user's prompt counts")
  })

  it('multiplies by the scale before it rounds, and states score and maximum in the language of the prompt', async () => {
    const found = {
      verdicts: levels('user', '1', '0.75', '0.75'),
      lists: { userRequirements: requirements('yes', 'yes', 'no') },
    }
    const { scorer } = judging(found, { scale: 10 })
    const result = await scorer.run({ input: '箇条書きで TypeScript の利点を挙げてください', output })
    expect(result.score).toBe(8.25)
    expect(scorer.range).toEqual([0, 10])
    expect(result.reason).toMatch(/^10 点満点中 8\.25 点 - 非常に高い整合性。不足: requirement 3。/)
    const chinese = await judging(found, { scale: 10 }).scorer.run({
      input: '请列出使用 TypeScript 的三个主要优点，每个优点用一句话说明',
      output,
    })
    expect(chinese.reason).toMatch(/^满分 10 分，得 8\.25 分 - 一致性很高。/)
  })

  it.each([
    [1, 0.9, 'excellent'],
    [10, 8.96, 'very good'],
    [3, 2.69, 'very good'],
  ])('names the band of score ÷ %d, as it is reported: %d is %s', async (scale, score, band) => {
    // .7 × (.4 × .75 + .3 + .2 + .1) + .3 × (.35 + .35 + .15 + .15 × .25) = .89625
    const found = {
      verdicts: { ...levels('user', '0.75', '1', '1'), ...levels('system', '1', '1', '0.25') },
      lists: perfect.lists,
    }
    const result = await judging(found, { scale }).scorer.run({ input: withSystem, output })
    expect(result.score).toBe(score)
    expect(result.evaluation.score).toMatchObject({ band })
  })

  it.each([
    ['no messages', [], output, {}, 'no-content'],
    ['no response', [request], undefined, {}, 'no-output'],
    ['no response, user', [request], null, { evaluationMode: 'user' }, 'no-output'],
  ] as const)('rejects %s with the words of the reference', async (_, input, response, options, code) => {
    const message = 'Both user prompt and agent response are required for prompt alignment scoring'
    const scoring = judging(perfect, options).scorer.run({ input, output: response })
    await expect(scoring).rejects.toMatchObject({ code, message: expect.stringContaining(message) })
  })

  it('rejects system without system text', async () => {
    await expect(
      judging(perfect, { evaluationMode: 'system' }).scorer.run({ input: [request], output }),
    ).rejects.toThrow('System prompt is required for system prompt alignment scoring')
  })

  it.each(['', '  \n'])('scores an empty response (%j) 0, with a reason, without asking the judge', async (text) => {
    const { scorer, model } = judging(perfect)
    const result = await scorer.run({ input: [request], output: { role: 'assistant', text } })
    expect(result.score).toBe(0)
    expect(result.reason).toMatch(
      /^0 of 1 - very poor alignment\. The response is empty: .*\. There are no system instructions, .*\.$/,
    )
    expect(model.calls).toHaveLength(0)
  })

  it('shows earlier turns as context: the last ten messages, the configured number, or none', async () => {
    const earlier = Array.from({ length: 14 }, (_, index) => ({
      role: index % 2 === 0 ? 'user' : 'assistant',
      content: `turn-${index}-`,
    }))
    const seen = async (includeConversationHistory?: boolean | number) => {
      const options = includeConversationHistory === undefined ? {} : { includeConversationHistory }
      const { scorer, model } = judging(perfect, options)
      await scorer.run({ input: [...earlier, request], output })
      return new Set(model.calls[0]?.prompt.match(/turn-\d+-/g)).size
    }
    expect(await seen()).toBe(10)
    expect(await seen(3)).toBe(3)
    expect(await seen(false)).toBe(0)
  })

  it.each([0, -1, Number.NaN, Infinity])('refuses a scale of %s', (scale) => {
    expect(() => judging(perfect, { scale })).toThrow('expected options.scale to be a positive number')
  })
})
