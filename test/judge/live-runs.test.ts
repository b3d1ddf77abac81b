import { describe, expect, it } from 'vitest'

import type { AgentRun } from '../../src/model/agent-run.ts'
import { createAnswerRelevancyScorer } from '../../src/scorers/judge/items/answer-relevancy.ts'
import { createCompletenessScorer } from '../../src/scorers/judge/items/completeness.ts'
import { createFaithfulnessScorer } from '../../src/scorers/judge/items/faithfulness.ts'
import { createHallucinationScorer } from '../../src/scorers/judge/items/hallucination.ts'
import { createPromptAlignmentScorerLLM } from '../../src/scorers/judge/alignment/prompt-alignment.ts'
import { createRubricScorer } from '../../src/scorers/judge/rubric.ts'
import { createSummarizationScorer } from '../../src/scorers/judge/summary/summarization.ts'
import { createToolCallAccuracyScorerLLM } from '../../src/scorers/judge/tool-calls/tool-call-accuracy.ts'
import { evaluate } from '../../src/scoring/evaluate.ts'
import { plain, AGENT_RUN_FACTS } from '../../src/model/facts.ts'
import { toRunInput } from '../../src/scoring/given/run-input.ts'
import type { Scorer } from '../../src/scoring/scorer.ts'
import { createScriptedJudge } from '../../src/testing/scripted-judge.ts'
import type { TextModel } from '../../src/testing/text-model.ts'

const makers: Record<string, (model: TextModel) => Scorer> = {
  answer_relevancy: (model) => createAnswerRelevancyScorer({ model }),
  completeness: (model) => createCompletenessScorer({ model }),
  faithfulness: (model) => createFaithfulnessScorer({ model }),
  hallucination: (model) => createHallucinationScorer({ model }),
  prompt_alignment: (model) => createPromptAlignmentScorerLLM({ model }),
  rubric: (model) => createRubricScorer({ model, criteria: [{ id: 'a', question: 'Is it good?' }] }),
  summarization: (model) => createSummarizationScorer({ model }),
}
const withTools = (model: TextModel) =>
  createToolCallAccuracyScorerLLM({ model, availableTools: [{ name: 'delete-account' }] })
const withoutTools = (model: TextModel) => createToolCallAccuracyScorerLLM({ model })
const version = (options: Parameters<typeof createPromptAlignmentScorerLLM>[0]) =>
  createPromptAlignmentScorerLLM(options).version

const answering = Object.entries(makers)

const call = { type: 'tool-call', toolCallId: '1', toolName: 'delete-account', args: {} }
const run = plain(toRunInput({ input: 'Delete my account.', output: 'Shall I?' }).run, AGENT_RUN_FACTS)
const waiting: AgentRun = {
  ...plain(
    toRunInput({ input: 'Delete my account.', output: [{ role: 'assistant', content: [call] }] }).run,
    AGENT_RUN_FACTS,
  ),
  toolCalls: [{ id: '1', name: 'delete-account', status: 'not-executed', step: 0, providerExecuted: false }],
}

/** Scores a run as the processor does, without the form of messages and without `.run()`. */
async function scoreOf(make: (model: TextModel) => Scorer, scored: AgentRun) {
  const model = createScriptedJudge({ error: new Error('not to be asked') })
  const { score } = await evaluate(make(model), scored)
  return { score, calls: model.calls.length }
}

describe.each(answering)('%s, live', (_, make) => {
  it.each(['error', 'aborted'] as const)('skips a run that ended as %s', async (status) => {
    const { score, calls } = await scoreOf(make, { ...run, status, error: { message: 'out of memory' } })
    expect(score).toMatchObject({
      status: 'skipped',
      reason: 'run-failed',
      message: expect.stringContaining('out of memory'),
    })
    expect(calls).toBe(0)
  })

  it("skips a run that waits for a client's tool or an approval", async () => {
    const { score } = await scoreOf(make, waiting)
    expect(score).toMatchObject({
      status: 'skipped',
      reason: 'not-finished',
      message: expect.stringContaining('delete-account'),
    })
  })

  it('skips a run without recorded content, and names the setting that records it', async () => {
    const { userInput: _input, output: _output, ...bare } = run
    const missing = ['input', 'output'].map((what) => ({
      what,
      why: 'not-captured' as const,
      switch: 'recordInputs: true',
    }))
    const { score } = await scoreOf(make, { ...bare, input: [], content: 'none', missing })
    expect(score).toMatchObject({
      status: 'skipped',
      reason: 'no-content',
      message: expect.stringContaining('Set recordInputs'),
    })
  })
})

describe('live runs', () => {
  it('score an empty answer of a finished run 0 for alignment, and skip it elsewhere', async () => {
    const empty = { ...run, output: '' }
    expect((await scoreOf(makers.prompt_alignment!, empty)).score).toMatchObject({ status: 'scored', value: 0 })
    expect((await scoreOf(makers.answer_relevancy!, empty)).score).toMatchObject({ reason: 'no-output' })
    const { output: _, ...none } = run
    expect((await scoreOf(makers.prompt_alignment!, none)).score).toMatchObject({ status: 'scored', value: 0 })
  })

  it('judge the calls of a failed run, and skip one without calls', async () => {
    const judge = createScriptedJudge({ verdicts: { call_1: 'appropriate', missing: 'none' } })
    const failed: AgentRun = { ...waiting, status: 'error' }
    expect((await evaluate(withTools(judge), failed)).score).toMatchObject({ status: 'scored', value: 1 })
    expect((await scoreOf(withTools, { ...run, status: 'error' })).score).toMatchObject({ reason: 'run-failed' })
  })

  it('skip the judge without tools to choose from', async () => {
    expect((await scoreOf(withoutTools, run)).score).toMatchObject({
      reason: 'not-applicable',
      message: expect.stringContaining('Pass availableTools'),
    })
  })
})

describe('what is known before a judge is asked', () => {
  const scorer = createPromptAlignmentScorerLLM({ model: 'openai/gpt-5-mini' })

  it('includes its model, whether it has a price, and the maximum cost of a score', () => {
    expect(scorer.judge).toMatchObject({ model: 'openai/gpt-5-mini', priced: true })
    const small = scorer.judge!.estimate(run)
    const large = scorer.judge!.estimate({ ...run, output: 'x'.repeat(1_000_000) })
    expect(small.calls).toBe(1)
    expect(large.tokens).toBeGreaterThan(small.tokens)
    expect(large.tokens).toBeLessThan(25_000)
    expect(small.costUsd).toBeCloseTo((1500 * 0.25 + 1000 * 2) / 1_000_000, 4)
    expect(createSummarizationScorer({ model: 'openai/gpt-5-mini' }).judge!.estimate(run).calls).toBe(2)
    expect(createSummarizationScorer({ model: 'acme/m' }).judge).toMatchObject({ priced: false })
    expect(createSummarizationScorer({ model: 'acme/m' }).judge!.estimate(run).costUsd).toBeUndefined()
  })

  it('includes what is missing, for which a live run is skipped', async () => {
    const lost = createPromptAlignmentScorerLLM({ model: 'nobody-made-this/m' })
    expect(lost.judge!.unavailable()).toContain('provider "nobody-made-this", which is unknown')
    expect((await evaluate(lost, run)).score).toMatchObject({ status: 'skipped', reason: 'judge-unavailable' })
  })

  it('is part of the version: model, prompts and options in any order', () => {
    const base = version({ model: 'openai/gpt-5-mini', options: { scale: 10, evaluationMode: 'user' } })
    expect(version({ options: { evaluationMode: 'user', scale: 10 }, model: 'openai/gpt-5-mini' })).toBe(base)
    expect(version({ model: 'openai/gpt-5', options: { scale: 10, evaluationMode: 'user' } })).not.toBe(base)
    expect(version({ model: 'openai/gpt-5-mini', options: { scale: 9, evaluationMode: 'user' } })).not.toBe(base)
    expect(base).toMatch(/^[0-9a-f]{8}$/)
  })
})
