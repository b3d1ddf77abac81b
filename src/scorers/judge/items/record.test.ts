import { describe, expect, it } from 'vitest'

import { call, runOf } from '../../../../test/fixtures/code-runs.ts'
import type { AgentRun } from '../../../model/agent-run.ts'
import { evaluate } from '../../../scoring/evaluate.ts'
import { plain, AGENT_RUN_FACTS } from '../../../model/facts.ts'
import { toRunInput } from '../../../scoring/given/run-input.ts'
import { readJudgePrompt } from '../../../testing/judge-prompt.ts'
import type { ScriptedVerdicts } from '../../../testing/judge-reply.ts'
import { createScriptedJudge } from '../../../testing/scripted-judge.ts'
import { createHallucinationScorer } from './hallucination.ts'

async function judge(
  run: AgentRun,
  lists: ScriptedVerdicts['lists'] = { claims: [{ text: 'x', verdict: 'supported' }] },
) {
  const model = createScriptedJudge({ lists })
  const { score } = await evaluate(createHallucinationScorer({ model }), run)
  const { sections, lists: asked } = readJudgePrompt(model.calls[0]?.prompt ?? '')
  return { score, sections, lists: asked.map(({ name }) => name), calls: model.calls.length }
}

const toolCall = { type: 'tool-call', toolCallId: 'c1', toolName: 'find', input: { q: 'fares' } }
const toolResult = { type: 'tool-result', toolCallId: 'c1', toolName: 'find', output: '40 euros' }

/** A run without a call, whose request repeats a call of an earlier turn. */
const later = plain(
  toRunInput({
    input: [
      { role: 'user', content: 'What is the fare? I am 70.' },
      { role: 'assistant', content: [toolCall] },
      { role: 'tool', content: [toolResult] },
      { role: 'assistant', content: 'It is 50 euros.' },
      { role: 'user', content: 'Are you sure?' },
    ],
    output: 'Yes, 40 euros.',
  }).run,
  AGENT_RUN_FACTS,
)

const booked = [{ text: 'booked the flight', verdict: 'not_stated' }]

describe('the record that claims are compared with', () => {
  it('has results of earlier turns, what the user said, and the agent’s own words as no evidence', async () => {
    const { sections, lists, score } = await judge(later)
    const history = [...sections].find(([title]) => title.startsWith('earlier turns'))?.[1]
    expect(history).toContain('result of "find": "40 euros"')
    expect(history).toContain('user: "What is the fare? I am 70."')
    expect(history).toContain('agent, no evidence: "It is 50 euros."')
    expect(lists).toEqual(['actions', 'claims'])
    expect(score).toMatchObject({ status: 'scored', value: 0 })
  })

  it('asks about claimed actions alone if there is no evidence, and is not applicable without any', async () => {
    const run = runOf({ output: 'I have booked it.' })
    const claimed = [{ text: 'booked it', verdict: 'contradicted' }]
    const { lists, score } = await judge(run, { actions: claimed })
    expect(lists).toEqual(['actions'])
    expect(score).toMatchObject({
      value: 1,
      label: 'fail',
      findings: [{ about: 'claimed action', verdict: 'contradicted', rating: 'bad', text: 'booked it' }],
    })
    expect((await judge(run, { actions: [] })).score).toMatchObject({ reason: 'not-applicable' })
  })

  it('says that calls may be lacking, and then a claimed action without a call fails nothing', async () => {
    const toolCalls = [call('find', {}, { result: 'LH 870' })]
    const lists = { claims: [{ text: 'LH 870 flies', verdict: 'supported' }], actions: booked }
    const whole = await judge(runOf({ toolCalls }), lists)
    expect(whole.score).toMatchObject({ value: 0.5, label: 'fail' })
    for (const what of ['toolCalls', 'children']) {
      const lacking = await judge(runOf({ toolCalls, missing: [{ what, why: 'limit' }] }), lists)
      expect(lacking.score).toMatchObject({ value: 0.5, label: 'pass' })
      expect([...lacking.sections.values()].join('\n')).toContain('(the record may lack calls)')
    }
  })

  it('takes a history of texts alone for one that may lack calls, if tools were offered', async () => {
    const said = [
      { role: 'user', content: 'Book it.' },
      { role: 'assistant', content: 'I have booked it.' },
      { role: 'user', content: 'Really?' },
    ]
    const run = plain(toRunInput({ input: said, output: 'Yes, booked.' }).run, AGENT_RUN_FACTS)
    const { score, sections } = await judge({ ...run, availableTools: [{ name: 'book' }] }, { actions: booked })
    expect(score).toMatchObject({ label: 'pass' })
    expect(sections.get('about the record')).toContain('may lack calls')
    const none = await judge({ ...run, availableTools: [] }, { actions: booked })
    expect(none.score).toMatchObject({ label: 'fail' })
  })
})
