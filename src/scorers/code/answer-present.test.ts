import { describe, expect, it } from 'vitest'

import { call, notRecorded, runOf, saying } from '../../../test/fixtures/code-runs.ts'
import type { AgentRun } from '../../model/agent-run.ts'
import { evaluate } from '../../scoring/evaluate.ts'
import { createAnswerPresentScorer } from './answer-present.ts'

describe('answer present', () => {
  it.each([
    ['', 'empty'],
    [' \n…', 'empty'],
    [':', 'empty'],
    ['Thought process:', 'boilerplate'],
    ["Let's think step by step.", 'boilerplate'],
    ['Sure! Here is the answer:', 'boilerplate'],
    ['解', 'boilerplate'],
    ["I'm sorry, but I can't help with that.", 'refusal'],
    ['I’m sorry, but I cannot assist with that request.', 'refusal'],
    ['As an AI language model, I cannot answer this.', 'refusal'],
    ['Es tut mir leid, aber dabei kann ich nicht helfen.', 'refusal'],
    ['申し訳ありませんが、その質問にはお答えできません。', 'refusal'],
    ['很抱歉,我无法提供这些信息。', 'refusal'],
    ['I do not know.', 'refusal'],
    ['Sorry, I don’t know that', 'refusal'],
    ['Das weiß ich leider nicht.', 'refusal'],
    ['我不知道。', 'refusal'],
    ["I don't know. Let me ask a colleague.", 'answer'],
    ['I do not know the answer to that, but the manual is at /help.', 'answer'],
    ['42', 'answer'],
    ['Yes.', 'answer'],
    ['👍', 'answer'],
    ["I'm sorry to hear that. Your refund is on its way.", 'answer'],
    ['Sure! Here is the plan: first mix, then bake.', 'answer'],
    [`I'm sorry, but I can't open the file. ${'Here is what to do instead. '.repeat(20)}`, 'answer'],
  ])('takes %j for %s', (answer, kind) => {
    expect(saying(createAnswerPresentScorer(), answer)).toMatchObject({
      value: kind === 'answer' ? 1 : 0,
      details: { kind },
    })
  })

  describe.each([[''], [' …'], [undefined]])('of a run with the text %j', (output) => {
    const scorer = createAnswerPresentScorer()
    const run = (more: Partial<AgentRun> = {}) => {
      const { output: _output, ...rest } = runOf({ toolCalls: [call('search'), call('transfer')], ...more })
      return { ...rest, ...(output !== undefined && { output }) }
    }

    it('takes a call that hands the user over to a person for an ending', () => {
      const given = evaluate(scorer, run(), { handOver: ['transfer'] })
      expect(given).toMatchObject({
        score: {
          value: 1,
          explanation: 'The run gave no text: it handed the user over to a person by transfer.',
          details: { kind: 'hand-over' },
        },
      })
    })

    it('skips a run whose last call succeeded: it may have ended as it should', () => {
      expect(evaluate(scorer, run())).toMatchObject({
        score: { reason: 'no-output', message: expect.stringContaining('the last call was transfer, which succeeded') },
      })
    })

    it('takes a call that failed, or no call, for no ending', () => {
      const expected = output === undefined ? { reason: 'no-output' } : { value: 0, details: { kind: 'empty' } }
      const toolCalls = [call('search'), call('transfer', {}, { status: 'error' })]
      expect(evaluate(scorer, run({ toolCalls }), { handOver: ['transfer'] })).toMatchObject({ score: expected })
      expect(evaluate(scorer, run({ toolCalls: [] }))).toMatchObject({ score: expected })
    })
  })

  it('is not scored if a setting keeps its text out, whatever the last call was', async () => {
    const missing = [{ what: 'output', why: 'not-captured' as const }]
    const { output: _output, ...run } = runOf({ toolCalls: [call('transfer')], missing })
    expect((await evaluate(createAnswerPresentScorer(), run)).score).toMatchObject({ reason: 'no-content' })
  })

  it('skips a run that failed after it handed over', () => {
    const failed = { ...runOf({ output: '', toolCalls: [call('transfer')], status: 'error' }) }
    expect(evaluate(createAnswerPresentScorer(), failed, { handOver: ['transfer'] })).not.toMatchObject({
      score: { details: { kind: 'hand-over' } },
    })
  })

  it('accepts refusals as answers if configured, and recognises additional ones', () => {
    expect(saying(createAnswerPresentScorer({ allowRefusals: true }), "I can't help with that.")).toMatchObject({
      value: 1,
    })
    const scorer = createAnswerPresentScorer({ refusals: [/beklager/giy] })
    expect(saying(scorer, 'Beklager, det går ikke.')).toMatchObject({ value: 0 })
    expect(saying(scorer, 'Beklager, det går ikke.')).toMatchObject({ value: 0 })
  })

  it.each<[string, Partial<AgentRun>, string]>([
    ['failed', { status: 'error' }, 'run-failed'],
    ['was not recorded', notRecorded('output'), 'no-content'],
    [
      'waits for a client',
      {
        steps: [{ toolCallIds: ['c1'], usage: {}, finishReasons: [], status: 'ok' }],
        toolCalls: [call('a', {}, { id: 'c1', status: 'not-executed' })],
      },
      'not-finished',
    ],
    ['said nothing', {}, 'no-output'],
  ])('is skipped where the run %s', (_what, more, reason) => {
    const { output: _output, ...run } = runOf(more)
    expect(evaluate(createAnswerPresentScorer(), run)).toMatchObject({ score: { status: 'skipped', reason } })
  })
})
