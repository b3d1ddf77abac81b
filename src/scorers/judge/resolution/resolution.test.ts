import { describe, expect, it } from 'vitest'

import { call, runOf } from '../../../../test/fixtures/code-runs.ts'
import type { AgentRun } from '../../../model/agent-run.ts'
import type { Evaluation } from '../../../model/score.ts'
import { evaluate } from '../../../scoring/evaluate.ts'
import type { ScriptedVerdicts } from '../../../testing/judge-reply.ts'
import { readJudgePrompt } from '../../../testing/judge-prompt.ts'
import { createScriptedJudge } from '../../../testing/scripted-judge.ts'
import type { GoalVerdict } from './questions.ts'
import { createResolutionScorer } from './resolution.ts'
import type { ResolutionScorerOptions } from './resolution.ts'

const run = runOf({
  systemInstructions: 'Basic tickets cannot be cancelled.',
  userInput: 'Cancel my flight.',
  toolCalls: [call('cancel', { id: 'A1' }, { result: 'ok' }), call('transfer', {}, { result: 'ok' })],
})

const replyOf = (verdicts: readonly GoalVerdict[], overstepped: 'yes' | 'no' = 'no', told: readonly string[] = []) => ({
  verdicts: { overstepped: { verdict: overstepped, reasoning: 'A second refund.' } },
  lists: {
    goals: verdicts.map((verdict, index) => ({ text: `goal ${index + 1}`, verdict, reasoning: 'By rule 2.' })),
    toldWrongly: [...told],
  },
})

const scoreOf = async (
  reply: ScriptedVerdicts,
  options: Partial<ResolutionScorerOptions> = {},
  judged: AgentRun = run,
): Promise<Evaluation['score']> => {
  const scorer = createResolutionScorer({ model: createScriptedJudge(reply), level: 'run', ...options })
  const { score } = await evaluate(scorer, judged)
  return score
}

describe('resolution', () => {
  it.each<[readonly GoalVerdict[], number, 'pass' | 'fail']>([
    [['done'], 1, 'pass'],
    [['declined'], 1, 'pass'],
    [['done', 'declined', 'withdrawn', 'open'], 1, 'pass'],
    [['partly'], 0.5, 'fail'],
    [['not'], 0, 'fail'],
    [['wrong'], 0, 'fail'],
    [['done', 'done', 'partly'], 0.83, 'fail'],
    [['done', 'wrong', 'withdrawn'], 0.5, 'fail'],
  ])('of the goals %j is %d: %s', async (verdicts, value, label) => {
    expect(await scoreOf(replyOf(verdicts))).toMatchObject({ status: 'scored', value, label })
  })

  it('fails with an overstep, whose goals stay what they were, and is 0 if no goal counts', async () => {
    expect(await scoreOf(replyOf(['done'], 'yes'))).toMatchObject({ value: 1, label: 'fail' })
    expect(await scoreOf(replyOf(['withdrawn'], 'yes'))).toMatchObject({ value: 0, label: 'fail' })
  })

  it('is not applicable if every goal was withdrawn or waits for the user', async () => {
    const skipped = { status: 'skipped', reason: 'not-applicable' }
    expect(await scoreOf(replyOf(['withdrawn', 'open']))).toMatchObject(skipped)
    expect(await scoreOf(replyOf([]))).toMatchObject(skipped)
  })

  it('finds goals, what was overstepped, and what was told wrongly, which counts neither way', async () => {
    const score = await scoreOf(replyOf(['done', 'declined', 'partly', 'wrong', 'open'], 'yes', ['It is free.']))
    expect(score).toMatchObject({
      findings: [
        { about: 'goal', verdict: 'done', rating: 'good', text: 'goal 1', reason: 'By rule 2.' },
        { about: 'goal', verdict: 'declined', rating: 'good' },
        { about: 'goal', verdict: 'partly', rating: 'open' },
        { about: 'goal', verdict: 'wrong', rating: 'bad' },
        { about: 'goal', verdict: 'open', rating: 'open' },
        { about: 'overstep', verdict: 'overstepped', rating: 'bad', text: 'A second refund.' },
        { about: 'statement', verdict: 'told_wrongly', rating: 'open', text: 'It is free.' },
      ],
      explanation: expect.stringMatching(/^2 of 4 goals handled rightly\. Overstepped \(A second refund\.\)\./),
    })
    expect(await scoreOf(replyOf(['done'], 'no', ['It is free.']))).toMatchObject({
      label: 'pass',
      explanation: expect.stringContaining('Told wrongly: It is free.'),
    })
  })

  it('keeps what the user got beside what was handled rightly', async () => {
    const scorer = createResolutionScorer({ model: createScriptedJudge(replyOf(['done', 'declined'])), level: 'run' })
    const { analyzeStepResult } = await scorer.run(run)
    expect(analyzeStepResult).toMatchObject({ done: 0.5, overstepped: { verdict: 'no' }, toldWrongly: [] })
  })

  it('asks about the goals that it was given, and lists no others', async () => {
    const model = createScriptedJudge({
      verdicts: { goal_1: 'done', goal_2: { verdict: 'not', reasoning: 'No call.' }, overstepped: 'no' },
    })
    const scorer = createResolutionScorer({ model, level: 'run', goals: ['a refund', 'a receipt'] })
    const { score } = await evaluate(scorer, run)
    expect(score).toMatchObject({
      value: 0.5,
      findings: [
        { text: 'a refund', verdict: 'done' },
        { text: 'a receipt', verdict: 'not' },
      ],
    })
    expect(readJudgePrompt(model.calls[0]?.prompt ?? '').lists.map(({ name }) => name)).toEqual(['toldWrongly'])
  })

  it('shows instructions, calls with arguments and results, and hand-overs by name', async () => {
    const model = createScriptedJudge(replyOf(['done']))
    const scorer = createResolutionScorer({ model, level: 'run' })
    const { output: _output, ...wordless } = run
    const { scorer: about } = await evaluate(scorer, wordless, { handOver: ['transfer'] })
    const { sections } = readJudgePrompt(model.calls[0]?.prompt ?? '')
    const shown = [...sections.values()].join('\n')
    expect(shown).toContain('Basic tickets cannot be cancelled.')
    expect(shown).toContain('call_1: "cancel", ok\n  arguments: {"id":"A1"}\n  result: "ok"\n')
    expect(shown).toContain('call_2: "transfer" (hands the user over to a person), ok\n')
    expect(sections.get("the agent's answer")).toBe('(no text; it handed the user over to a person by "transfer")')
    expect(about.version).not.toBe(scorer.version)
  })
})
