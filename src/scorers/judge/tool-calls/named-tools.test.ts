import { describe, expect, it } from 'vitest'

import type { Evaluation } from '../../../model/score.ts'
import type { ScriptedVerdict } from '../../../testing/judge-reply.ts'
import { createScriptedJudge } from '../../../testing/scripted-judge.ts'
import { createToolCallAccuracyScorerLLM } from './tool-call-accuracy.ts'
import type { ToolCallAccuracyAnalysis } from './verdicts.ts'

/** t1, t2 and t3; the last is listed twice, as merged catalogues may well do. */
const availableTools = ['weather', 'search', 'calendar', 'calendar'].map((name) => ({ name, description: name }))

const run = {
  input: 'What is the weather in Oslo, and am I free?',
  output: [
    { role: 'assistant', content: [{ type: 'tool-call', toolCallId: '1', toolName: 'search', args: {} }] },
    { role: 'assistant', content: 'Sunny.' },
  ],
}

interface Judged {
  readonly evaluation: Evaluation
  readonly analyzeStepResult?: ToolCallAccuracyAnalysis
}

/** The verdicts of the first reply, and of the second, where there is one. */
async function judge(call: ScriptedVerdict, missing: ScriptedVerdict = 'none', second = { call, missing }) {
  const model = createScriptedJudge(({ index }) => {
    const given = index === 0 ? { call, missing } : second
    return { verdicts: { call_1: given.call, missing: given.missing } }
  })
  const judged: Judged = await createToolCallAccuracyScorerLLM({ model, availableTools })
    .run(run)
    .catch((error: Judged) => error)
  const { score } = judged.evaluation
  return {
    value: score.status === 'scored' ? score.value : score.status === 'failed' ? score.code : score.reason,
    calls: model.calls.length,
    betterTool: judged.analyzeStepResult?.evaluations[0]?.betterTool,
    missingTools: judged.analyzeStepResult?.missingTools,
  }
}

const helpful = (...tools: string[]) => ({ verdict: 'helpful', tools })
const some = (...tools: string[]) => ({ verdict: 'some', tools })

describe('a helpful call', () => {
  it('names the better tool, by id or by name', async () => {
    for (const pick of ['t1', 'weather', ' weather ']) {
      expect(await judge(helpful(pick))).toMatchObject({ value: 0.5, calls: 1, betterTool: 'weather' })
    }
  })

  it('with a better tool that is also missing counts that tool once', async () => {
    expect(await judge(helpful('t1'), some('t1'))).toMatchObject({ value: 0.5, missingTools: undefined })
    expect(await judge(helpful('t1'), some('t1', 't3'))).toMatchObject({ value: 0.25, missingTools: ['calendar'] })
  })

  it('counts without the name of a better tool too', async () => {
    expect(await judge(helpful())).toMatchObject({ value: 0.5, calls: 1, betterTool: undefined })
  })

  it('has no better tool if the named one is not in the catalogue', async () => {
    expect(await judge(helpful('t9', 'oracle', '__proto__'))).toMatchObject({ value: 0.5, betterTool: undefined })
  })

  it('has no better tool if it names the called one', async () => {
    expect(await judge(helpful('t2'))).toMatchObject({ value: 0.5, calls: 1, betterTool: undefined })
  })
})

describe('a missing tool', () => {
  it('counts once if it is named twice, or by two names', async () => {
    for (const picks of [
      ['t3', 't3'],
      ['t3', 'calendar'],
    ]) {
      expect(await judge('appropriate', some(...picks))).toMatchObject({ value: 0.5, missingTools: ['calendar'] })
    }
  })

  it('is not missing if it was called', async () => {
    expect(await judge('appropriate', some('t2'))).toMatchObject({ value: 1, calls: 1, missingTools: undefined })
  })

  it('does not count beside others if it is not in the catalogue', async () => {
    expect(await judge('appropriate', some('t3', 't9', 'oracle'))).toMatchObject({
      value: 0.5,
      missingTools: ['calendar'],
    })
  })

  it('is no answer if only tools outside the catalogue are named: the judge is asked once more', async () => {
    for (const picks of [[], ['t9'], ['oracle']]) {
      expect(await judge('appropriate', some(...picks))).toMatchObject({ value: 'judge-unanswered', calls: 2 })
    }
    const second = { call: 'appropriate', missing: 'none' }
    expect(await judge('appropriate', some('oracle'), second)).toMatchObject({ value: 1, calls: 2 })
  })

  it('is ignored together with the verdict that none is missing', async () => {
    expect(await judge('appropriate', { verdict: 'none', tools: ['t3'] })).toMatchObject({ value: 1, calls: 1 })
  })
})
