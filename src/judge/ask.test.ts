import { describe, expect, it } from 'vitest'

import { createScriptedJudge } from '../testing/scripted-judge.ts'
import type { JudgeScript } from '../testing/scripted-judge.ts'
import { ask } from './ask.ts'
import type { Inquiry } from './inquiry.ts'
import { Judge } from './judge.ts'
import { JudgeSession } from './session.ts'

const inquiry: Inquiry = {
  role: 'You judge weather reports.',
  sections: [{ title: 'the report', text: 'It is sunny in Oslo.' }],
  questions: [
    { id: 'tone', text: 'Is the tone friendly?', verdicts: ['yes', 'no'] },
    {
      id: 'tools',
      text: 'Which tools?',
      verdicts: ['none', 'some'],
      picks: { name: 'tools', from: ['t1', 't2'], required: ['some'], forbidden: ['none'] },
    },
  ],
  lists: [
    {
      name: 'claims',
      prefix: 'c',
      instruction: 'Every claim',
      max: 5,
      question: { text: 'Is it so?', verdicts: ['supported', 'unsupported'] },
    },
  ],
  notes: [{ name: 'summary', instruction: 'One sentence' }],
  control: { favourable: 'yes', unfavourable: 'no' },
}

export const good = {
  verdicts: { tone: 'yes', tools: { verdict: 'some', picks: ['t2'] } },
  lists: {
    claims: [
      { text: 'It is sunny.', verdict: 'supported' },
      { text: 'In Oslo.', verdict: 'unsupported' },
    ],
  },
  notes: { summary: 'Fine.' },
}

function start(script: JudgeScript) {
  const model = createScriptedJudge(script)
  const session = new JudgeSession(new Judge(model), 'test', 'run', {
    signal: new AbortController().signal,
    timeoutMs: 5000,
  })
  return { model, session, asked: ask(session, inquiry) }
}

describe('ask', () => {
  it('gives an answer to every question and every item', async () => {
    const { asked, session, model } = start(good)
    const outcome = await asked
    if (!outcome.ok) throw new Error(outcome.score.message)
    expect(outcome.value.answers.get('tone')?.verdict).toBe('yes')
    expect(outcome.value.answers.get('tools')?.picks).toEqual(['t2'])
    expect(outcome.value.items.get('claims')?.map((item) => item.answer?.verdict)).toEqual(['supported', 'unsupported'])
    expect(outcome.value.notes.get('summary')).toEqual(['Fine.'])
    expect(session.report()).toMatchObject({ model: 'scripted-judge', calls: 1 })
    expect(model.calls[0]?.temperature).toBe(0)
    console.log(model.calls[0]?.instructions)
    console.log(model.calls[0]?.prompt)
    console.log(JSON.stringify(model.calls[0]?.schema))
  })
})
