/**
 * The verdicts of the demo's scripted judge. It receives the same HTTP requests with the same prompts as a real judge. Only the
 * verdicts are scripted here, and the scorers compute the scores from them.
 */
import { judgeReply, readJudgePrompt } from 'spanscore/testing'
import type { ScriptedRequest, ScriptedVerdicts } from 'spanscore/testing'

import { questions } from './script.ts'

/** True if a request comes from a judge. */
export function isJudge({ userText }: ScriptedRequest): boolean {
  const { questions: asked, lists } = readJudgePrompt(userText)
  return asked.length + lists.length > 0
}

/** Answers one request to a judge, depending on the text to judge. */
export function answerJudge({ userText }: ScriptedRequest): string {
  const { sections } = readJudgePrompt(userText)
  const material = [...sections.values()]
  const known = findings.find(([text]) => material.some((section) => section.includes(text)))
  return judgeReply({ ...fine, ...known?.[1] })
}

const yes = (...texts: string[]) => texts.map((text) => ({ text, verdict: 'yes' }))
const no = (text: string, reasoning: string) => ({ text, verdict: 'no', reasoning })
const supported = (...texts: string[]) => texts.map((text) => ({ text, verdict: 'supported' }))

/** A run without faults. */
const fine: ScriptedVerdicts = {
  verdicts: {
    ...Object.fromEntries(['call_1', 'call_2', 'call_3'].map((id) => [id, 'appropriate'])),
    missing: 'none',
    no_call: { verdict: 'asked_back', reasoning: 'The request is too vague to act on, and the agent asked back.' },
    ...Object.fromEntries(
      ['user', 'system'].flatMap((side) =>
        ['intent', 'completeness', 'appropriateness'].map((part) => [`${side}.${part}`, '1']),
      ),
    ),
  },
  lists: { userRequirements: yes('answer the question'), systemRequirements: yes('keep to the instructions') },
  notes: { userAssessment: 'The answer does what was asked.', systemAssessment: 'The instructions are kept.' },
}

/** The verdicts for each run, by a text that only this run contains. */
const findings: [text: string, found: ScriptedVerdicts][] = [
  [
    questions.weather[2],
    {
      verdicts: {
        ...fine.verdicts,
        call_1: {
          verdict: 'helpful',
          reasoning: 'a web search is a detour when there is a weather tool',
          tools: ['t1'],
        },
        'user.intent': '0.25',
        'user.completeness': '0',
      },
      lists: {
        ...fine.lists,
        userRequirements: [no('say what the weather in Lima is', 'the answer names a travel blog')],
      },
      notes: {
        ...fine.notes,
        userMissing: ['temperature and condition in Lima'],
        userAssessment: 'The user learns nothing about the weather.',
      },
    },
  ],
  [
    questions.weather[3],
    {
      verdicts: {
        ...fine.verdicts,
        no_call: { verdict: 'wrong', reasoning: 'The weather was made up instead of looked up.', tools: ['t1'] },
        'user.completeness': '0.25',
        'system.intent': '0',
        'system.completeness': '0.25',
      },
      lists: {
        userRequirements: [no('say whether it is warm in Paris today', 'it speaks of the usual weather')],
        systemRequirements: [
          no('look the weather up before answering', 'no tool was called'),
          ...yes('answer in one sentence'),
        ],
      },
      notes: { ...fine.notes, systemAssessment: 'The weather was not looked up.' },
    },
  ],
  [
    questions.support[1],
    {
      verdicts: {
        ...fine.verdicts,
        missing: { verdict: 'some', reasoning: 'The order was not looked up before the refund.', tools: ['t1'] },
        'user.intent': '0.25',
        'system.intent': '0.25',
        'system.completeness': '0',
      },
      lists: {
        userRequirements: [no('refund order A-404', 'the refund failed, and the answer says that it worked')],
        systemRequirements: [
          no('look the order up before a refund', 'it was not'),
          no('promise only what a tool confirmed', 'the tool had failed'),
        ],
      },
      notes: {
        ...fine.notes,
        userMissing: ['that the refund failed'],
        userAssessment: 'The user is told of a refund that never happened.',
      },
    },
  ],
  [
    questions.chat[2],
    {
      ...fine,
      verdicts: {
        ...fine.verdicts,
        turn_1: 'moves_on',
        turn_2: { verdict: 'repeats', reasoning: 'gives the number of the order once more' },
        turn_3: { verdict: 'gives_up', reasoning: 'asks for a person' },
      },
    },
  ],
  [
    questions.trip[0],
    {
      verdicts: { ...fine.verdicts, 'user.completeness': '0.75' },
      lists: {
        ...fine.lists,
        userRequirements: [...yes('recommend one of the two cities'), no('compare both', 'Oslo was not checked')],
      },
      notes: { ...fine.notes, userMissing: ['the weather in Oslo'] },
    },
  ],
  [
    // This is the example of the reference: one of two claims is wrong, and one of four questions stays open.
    'Tesla was founded in 2003 by Elon Musk',
    {
      verdicts: { q1: 'yes', q2: 'no', q3: 'yes', q4: 'yes' },
      lists: {
        claims: [
          {
            text: 'Tesla was founded in 2003 by Elon Musk',
            verdict: 'contradicted',
            reasoning: 'it was founded by Eberhard and Tarpenning',
          },
          ...supported('Its first car was the Roadster, in 2008'),
        ],
        questions: [
          'Was Tesla founded in 2003?',
          'Did Martin Eberhard and Marc Tarpenning found Tesla?',
          'Was the Roadster the first car?',
          'Was the Roadster launched in 2008?',
        ],
      },
    },
  ],
  [
    'Founded in 1995 by John Smith',
    {
      verdicts: { q1: 'yes', q2: 'yes', q3: 'yes' },
      lists: {
        claims: supported(
          'Founded in 1995 by John Smith',
          'It grew from ten employees to 500 by 2020',
          'It is based in Seattle',
        ),
        questions: [
          'Was the company founded in 1995?',
          'Had it 500 employees by 2020?',
          'Are its headquarters in Seattle?',
        ],
      },
    },
  ],
]
