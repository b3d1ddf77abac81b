import { describe, expect, it } from 'vitest'

import { call, notRecorded, runOf } from '../../../../test/fixtures/code-runs.ts'
import type { AgentRun } from '../../../model/agent-run.ts'
import { evaluate } from '../../../scoring/evaluate.ts'
import { readJudgePrompt } from '../../../testing/judge-prompt.ts'
import { createScriptedJudge } from '../../../testing/scripted-judge.ts'
import type { ScriptedVerdicts } from '../../../testing/judge-reply.ts'
import { createToolArgumentsScorerLLM } from './tool-arguments.ts'

const run = runOf({
  userInput: 'Book Oslo on Friday for Ann.',
  toolCalls: [
    call('find', { city: 'Oslo' }, { result: 'BX1', step: 0 }),
    call('book', { id: 'BX1', guests: [{ name: 'Ann' }], pay: 'card_7', note: '' }, { result: 'ok', step: 1 }),
  ],
  availableTools: [{ name: 'book', parameters: { required: ['id', 'date'] } }, { name: 'other' }],
})

const stated = Object.fromEntries(['call_1.a1', 'call_2.a1', 'call_2.a2', 'call_2.a3'].map((id) => [id, 'stated']))
const verdicts = { ...stated, 'call_1.missing': 'none', 'call_2.missing': 'none' }

async function judge(more: ScriptedVerdicts['verdicts'] = {}, judged: AgentRun = run) {
  const model = createScriptedJudge({ verdicts: { ...verdicts, ...more } })
  const evaluation = await evaluate(createToolArgumentsScorerLLM({ model }), judged)
  return { ...evaluation, prompt: model.calls[0]?.prompt ?? '', asked: model.calls.length }
}

describe('tool_arguments_llm', () => {
  it('asks once about every value and every call, and shows schemas of called tools', async () => {
    const { score, calls, prompt, asked } = await judge()
    expect(asked).toBe(1)
    expect(score).toMatchObject({ value: 1, label: 'pass' })
    expect(calls?.map((each) => each.score)).toMatchObject([{ value: 1 }, { value: 1 }])
    const { sections, questions } = readJudgePrompt(prompt)
    expect(questions.map(({ id }) => id)).toEqual(Object.keys(verdicts))
    expect(sections.get('the values of arguments (id, argument, value)')).toBe(
      [
        'call_1.a1: "city" = "Oslo"',
        'call_2.a1: "id" = "BX1"',
        'call_2.a2: "guests[0].name" = "Ann"',
        'call_2.a3: "pay" = "card_7"',
      ].join('\n'),
    )
    expect(sections.get('the tools that were called, and the schemas of their arguments')).toBe(
      '"book"\n  arguments: {"required":["id","date"]}',
    )
  })

  it.each([
    ['altered', 'altered', 'bad'],
    ['invented', 'invented', 'bad'],
    ['guessed', 'assumed', 'bad'],
    ['assumed', 'assumed', 'open'],
  ] as const)('finds a value that is %s: %s, %s', async (verdict, said, rating) => {
    const { calls, score } = await judge({ 'call_2.a3': { verdict, reasoning: 'Nobody said so.' } })
    expect(score).toMatchObject({ value: rating === 'bad' ? 0.5 : 1, label: rating === 'bad' ? 'fail' : 'pass' })
    expect(calls?.[1]?.score).toMatchObject({
      explanation: `2 of 3 values stated. ${said}: pay (Nobody said so.).`,
      findings: expect.arrayContaining([
        expect.objectContaining({ verdict: said, rating, places: [{ in: 'arguments', index: 1, path: 'pay' }] }),
      ]),
    })
  })

  it('fails a call that lacks an argument', async () => {
    const { calls } = await judge({ 'call_2.missing': { verdict: 'missing', reasoning: 'date is required.' } })
    expect(calls?.[1]?.score).toMatchObject({
      value: 0,
      findings: expect.arrayContaining([expect.objectContaining({ verdict: 'missing', text: 'date is required.' })]),
    })
  })

  it('counts no invented value if its source may not be recorded', async () => {
    const gap = { ...run, missing: [{ what: 'toolCalls[0].result', why: 'not-captured' as const }] }
    expect((await judge({ 'call_2.a1': 'invented' }, gap)).score).toMatchObject({ value: 1 })
    expect((await judge({ 'call_2.a1': 'altered' }, gap)).score).toMatchObject({ value: 0.5 })
  })

  it('is not applicable without calls, and has no content where arguments were not recorded', async () => {
    expect((await judge({}, runOf())).score).toMatchObject({ reason: 'not-applicable' })
    const { arguments: _arguments, ...bare } = call('book')
    const unrecorded = runOf({ toolCalls: [bare], ...notRecorded('toolCalls[0].arguments') })
    expect((await judge({}, unrecorded)).score).toMatchObject({ reason: 'no-content' })
  })
})
