import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

import { afterAll, describe, expect, it } from 'vitest'

import {
  attachScoring,
  createAbandonedScorer,
  createKnowledgeRetentionScorer,
  createLoopScorer,
  createRepeatedQuestionScorer,
  createResolutionScorer,
  createRubricScorer,
  createRunLimitsScorer,
  createScorer,
  createToolErrorsScorer,
  createTrajectoryScorer,
  createUserFrictionScorer,
} from '../src/entries/main.ts'
import type { Scorer } from '../src/entries/main.ts'
import type { AgentRun } from '../src/model/agent-run.ts'
import { readOtlpJson } from '../src/otlp/json.ts'
import { buildRuns } from '../src/runs/build-runs.ts'
import { withOwnFacts } from '../src/runs/view/with-own-facts.ts'
import { createScriptedJudge } from '../src/testing/scripted-judge.ts'
import { chatRequests } from './fixtures/chat.ts'
import type { ChatOptions, ChatTurn } from './fixtures/chat.ts'
import { runCommand } from './fixtures/run-command.ts'

const directory = mkdtempSync(join(tmpdir(), 'spanscore-conversations-'))
afterAll(() => rmSync(directory, { recursive: true }))
const root = resolve(import.meta.dirname, '..')

function file(name: string, content: string): string {
  const path = join(directory, name)
  writeFileSync(path, content)
  return path
}

function runsOf(turns: readonly ChatTurn[], options: ChatOptions = { id: 'c' }): readonly AgentRun[] {
  const runs = chatRequests(turns, options).flatMap((request) => buildRuns(readOtlpJson(request)?.spans ?? []))
  expect(runs).toHaveLength(turns.length)
  return runs
}

/** A chat of twelve turns about a lost parcel. */
const parcel: readonly ChatTurn[] = [
  { user: 'Hello, where is my parcel?', answer: 'What is your order number?' },
  { user: 'It is 4711.', answer: 'It is on its way.', tools: [{ name: 'track' }] },
  {
    user: 'That was last week. Where is it now?',
    answer: 'It is on its way.',
    tools: [{ name: 'track', fails: true }],
  },
  { user: 'You said that already, where is my parcel now?', answer: 'Please tell me your order number.' },
  { user: '4711, as I wrote.', answer: 'It was delivered to a neighbour.', tools: [{ name: 'track' }] },
  { user: 'To which one?', answer: 'To Mrs Berg.' },
  { user: 'Great, thank you.', answer: 'You are welcome.' },
  { user: 'Can I also change my address?', answer: 'Of course. To which?' },
  { user: 'Lark Lane 5.', answer: 'Done.', tools: [{ name: 'change_address' }] },
  { user: 'And the next order goes there too?', answer: 'Yes.' },
  { user: 'Perfect.', answer: 'Anything else?' },
  { user: 'No, bye.', answer: 'Goodbye.' },
]

const outcomeOf = (scorer: Scorer, runs: readonly AgentRun[]) =>
  scorer.run(runs).then(
    ({ score }) => score,
    (error: { evaluation?: { score: { reason?: string } } }) => error.evaluation?.score.reason,
  )

describe('scorers of conversations by code', () => {
  it('get the conversation, its turns and its runs', async () => {
    const scorer = createScorer({ id: 'short', description: 'Few turns.', level: 'conversation' })
      .preprocess(({ conversation }) => conversation.turns.map(({ user }) => user))
      .generateScore(({ conversation }) => Number(conversation.turns.length <= 6))
      .generateReason(({ conversation, score }) => `${conversation.runs.length} runs: ${score}`)
    const result = await scorer.run(runsOf(parcel))
    expect(result).toMatchObject({ score: 0, reason: '12 runs: 0', runId: 'c' })
    expect(result.preprocessStepResult).toEqual(parcel.map(({ user }) => user))
    expect(result.evaluation).toMatchObject({ scorer: { level: 'conversation' }, revision: 12, complete: true })
    expect(await scorer.run([{ input: 'Hi', output: 'Hello.' }])).toMatchObject({ score: 1 })
  })

  it('refuse what is no list of runs, and scorers of runs refuse a list', async () => {
    const run = { input: 'Hi', output: 'Hello.' }
    await expect(createAbandonedScorer().run(run)).rejects.toThrow('expected a list of the runs of a conversation')
    const scorer = createScorer({ id: 'one', description: 'x' }).generateScore(() => 1)
    await expect(scorer.run([run])).rejects.toThrow('got a list, which is for scorers of conversations')
  })

  it('find repeated questions', async () => {
    const again: readonly ChatTurn[] = [
      { user: 'Where is my parcel 4711?', answer: 'On its way.' },
      { user: 'Thanks!', answer: 'Welcome.' },
      { user: 'where is my parcel 4711', answer: 'On its way.' },
      { user: 'When does the shop open tomorrow?', answer: 'At nine.' },
    ]
    const result = await createRepeatedQuestionScorer().run(runsOf(again))
    expect(result).toMatchObject({
      score: 0.33,
      evaluation: { score: { label: 'fail', findings: [{ verdict: 'repeats', places: [{ in: 'turn', index: 2 }] }] } },
    })
    expect(result.reason).toBe('1 of 3 messages repeat an earlier one: turn 3 (where is my parcel 4711).')
    expect(await outcomeOf(createRepeatedQuestionScorer(), runsOf(again.slice(0, 1)))).toBe('not-applicable')
  })

  it.each([
    ['Where is my parcel?', 'So where is my parcel?', true],
    ['Could you please tell me where my parcel is today?', 'Could you please tell me where my parcle is today?', true],
    ['Could you please tell me whether it rains tomorrow?', 'Could you please tell me whether it rains tomorow?', true],
    ['Wo ist die Bestellung 1001 von gestern?', 'Und wo ist die Bestellung 1001 von gestern?', true],
    ['Wo ist Bestellung 1001?', 'Wo ist Bestellung 1065?', false],
    ['How is the weather going to be tomorrow in Oslo?', 'How is the weather going to be tomorrow in Rome?', false],
    ['Please tell me the address of our customer Maria.', 'Please tell me the address of our customer Marie.', false],
    ['What is the status of order ab-x-cd, please?', 'What is the status of order ab-y-cd, please?', false],
    ['Send the money from account 12 to account 21.', 'Send the money from account 21 to account 12.', false],
    ['北京今天的天气怎么样会不会下雨要不要带伞', '东京今天的天气怎么样会不会下雨要不要带伞', false],
    [`Translate: ${'word '.repeat(120)} cat`, `Translate: ${'word '.repeat(120)} dog`, false],
  ])('take %j before %j for a repeat: %j', async (first, second, isRepeat) => {
    const { score } = await createRepeatedQuestionScorer().run(
      runsOf([first, second].map((user) => ({ user, answer: 'A moment.' }))),
    )
    expect(score).toBe(isRepeat ? 0.5 : 0)
  })

  it('are those of runs with level: conversation, over the calls of all runs', async () => {
    const level = 'conversation'
    const runs = runsOf(parcel)
    expect(await outcomeOf(createRunLimitsScorer({ level, maxTurns: 10, maxToolCalls: 4 }), runs)).toBe(0.5)
    expect(await outcomeOf(createToolErrorsScorer({ level }), runs)).toBe(0.25)
    // The failed call was made again in a later turn.
    expect(await outcomeOf(createToolErrorsScorer({ level, countRecovered: false }), runs)).toBe(0)
    expect(await outcomeOf(createLoopScorer({ level }), runs)).toBe(0.25)
    const expected = ['track', 'change_address']
    expect(await outcomeOf(createTrajectoryScorer({ level, expected, measure: 'recall' }), runs)).toBe(1)
    expect(() => createRunLimitsScorer({ maxTurns: 3 })).toThrow("expected maxTurns to have level: 'conversation'")
    const model = createScriptedJudge({ verdicts: { polite: 'pass' } })
    const rubric = createRubricScorer({ level, model, criteria: [{ id: 'polite', question: 'Is the agent polite?' }] })
    expect(await outcomeOf(rubric, runs)).toBe(1)
    expect(model.calls[0]?.prompt).toContain('turn 12, agent: "Goodbye."')
  })

  it('find abandoned conversations by their last run', async () => {
    const scorer = createAbandonedScorer()
    expect(await outcomeOf(scorer, runsOf(parcel))).toBe(0)
    expect(await outcomeOf(scorer, runsOf([...parcel, { user: 'Hello?', answer: '' }]))).toBe(1)
    const failed = { ...withOwnFacts(runsOf(parcel.slice(0, 1))[0]!), status: 'error' as const, output: undefined }
    expect(await outcomeOf(scorer, [failed])).toBe(1)
    const transferred = (fails: boolean) =>
      runsOf([...parcel, { user: 'A person, please.', answer: '', tools: [{ name: 'transfer', fails }] }])
    expect(await outcomeOf(scorer, transferred(false))).toBe(0)
    // The spans do not show whether a text came after the call that failed.
    expect(await outcomeOf(scorer, transferred(true))).toBe('no-content')
  })
})

const text = (index: number) => `Turn ${index}: ${'long words '.repeat(90)} end ${index}.`

describe('scorers of conversations by judge', () => {
  const verdicts = Object.fromEntries(parcel.slice(1).map((_, index) => [`turn_${index + 2}`, 'moves_on']))
  const friction = { verdicts: { ...verdicts, turn_3: 'repeats', turn_4: 'complains' } }
  const goals = {
    lists: {
      goals: [
        { text: 'find the parcel', verdict: 'done' },
        { text: 'change the address', verdict: 'partly' },
        { text: 'a discount', verdict: 'withdrawn' },
      ],
    },
    verdicts: { overstepped: 'no' },
  }
  const facts = {
    lists: {
      facts: [
        { text: 'order 4711', verdict: 'asked_again' },
        { text: 'Lark Lane 5', verdict: 'kept' },
        { text: 'likes larks', verdict: 'not_needed' },
      ],
    },
  }

  it.each([
    ['user_friction', createUserFrictionScorer, friction, 0.18],
    ['resolution', createResolutionScorer, goals, 0.75],
    ['knowledge_retention', createKnowledgeRetentionScorer, facts, 0.5],
  ] as const)('%s asks once', async (_, create, reply, score) => {
    const model = createScriptedJudge(reply)
    expect(await create({ model }).run(runsOf(parcel))).toMatchObject({ score })
    expect(model.calls).toHaveLength(1)
    const prompt = model.calls[0]?.prompt
    expect(prompt).toContain('turn 3, call_2: "track", error\n')
    expect(prompt).toContain('  error: "timeout"')
    expect(prompt).toContain('turn 12, agent')
  })

  it('name where there was friction', async () => {
    const result = await createUserFrictionScorer({ model: createScriptedJudge(friction) }).run(runsOf(parcel))
    expect(result.reason).toBe('Friction in 2 of 11 messages: turn 3 repeats; turn 4 complains.')
    const only = createUserFrictionScorer({ model: createScriptedJudge(friction), id: 'errors', count: ['corrects'] })
    expect(await only.run(runsOf(parcel))).toMatchObject({ score: 0 })
  })

  it('judge goals that are given, and say who handed over', async () => {
    const model = createScriptedJudge({ verdicts: { goal_1: 'not', goal_2: 'done', overstepped: 'no' } })
    const given = createResolutionScorer({ model, goals: ['find a parcel', 'change an address'] })
    expect(await given.run(runsOf(parcel), { handOver: ['change_address'] })).toMatchObject({ score: 0.5 })
    expect(model.calls[0]?.prompt).toContain('"change_address" (hands the user over to a person), ok')
  })

  it('are shown the first and the last turns of a long conversation, whole, in a prompt of 12,000 tokens', async () => {
    const long = Array.from({ length: 400 }, (_, index) => ({ input: text(index), output: text(1000 + index) }))
    const model = createScriptedJudge({
      verdicts: Object.fromEntries(long.map((_, index) => [`turn_${index + 1}`, 'moves_on'])),
    })
    const result = await createUserFrictionScorer({ model }).run(long)
    expect(result.score).toBe(0)
    expect(result.reason).toMatch(/not shown 345 of 400 turns\. The judge was not shown \d+ bytes/)
    expect(model.calls).toHaveLength(1)
    const [call] = model.calls
    const prompt = JSON.stringify(call?.prompt)
    expect(Buffer.byteLength(prompt)).toBeLessThan(52 * 1024)
    for (const whole of [0, 1000, 399, 1399]) expect(prompt).toContain(text(whole))
  })

  it('skip a conversation with missing turns, and ask nobody', async () => {
    const model = createScriptedJudge({})
    const scorer = createUserFrictionScorer({ model })
    const runs = runsOf(parcel.slice(0, 5))
    expect(await outcomeOf(scorer, [...runs.slice(0, 2), ...runs.slice(3)])).toBe('incomplete')
    expect(model.calls).toHaveLength(0)
    const judge = createScriptedJudge({ verdicts: { turn_2: 'moves_on', turn_3: 'moves_on' } })
    expect(await outcomeOf(createUserFrictionScorer({ model: judge }), runs.slice(2))).toBe(0)
    expect(JSON.stringify(judge.calls[0]?.prompt)).toContain('It is 4711.')
  })
})

describe('conversations in files', () => {
  const chats = [
    ...chatRequests(parcel.slice(0, 5), { id: 'parcel', prefix: 'c1' }),
    ...chatRequests(parcel.slice(0, 2), { id: 'parcel', service: 'other-shop', prefix: 'c2' }),
    ...chatRequests([{ user: 'Hi', answer: '' }], { id: 'alone', prefix: 'c3' }),
    ...chatRequests([{ user: 'No id', answer: 'None.' }], { prefix: 'c4' }),
  ]
  // The order in a file does not matter.
  const traces = file(
    'chats.jsonl',
    chats
      .toReversed()
      .map((each) => JSON.stringify(each))
      .join('\n'),
  )
  const config = file(
    'chats.config.ts',
    `import * as prebuilt from '${root}/src/entries/scorers.ts'
export default { scorers: [
  prebuilt.createAbandonedScorer(),
  prebuilt.createToolErrorsScorer(),
  { scorer: prebuilt.createScorer({ id: 'turns', description: 'Turns.', level: 'conversation', range: [0, 10] })
      .generateScore(({ conversation }) => conversation.turns.length), when: (run) => run.conversation.turns.length > 1 },
] }`,
  )

  it('are scored as all runs of a service with one id', async () => {
    const out = join(directory, 'scores.jsonl')
    const { code, stdout, stderr } = await runCommand(['score', traces, '--config', config, '--json', '--out', out])
    expect(code).toBe(0)
    expect(stderr).toMatch(/^spanscore: Runs of clerk have no id of a conversation, .*\n$/)
    const { evaluations } = JSON.parse(stdout)
    const valuesOf = (id: string) =>
      evaluations.flatMap(({ scorer, runId, value }: Record<string, unknown>) =>
        scorer === id ? [[runId, value]] : [],
      )
    expect(valuesOf('abandoned')).toEqual([
      ['parcel', 0],
      ['parcel', 0],
      ['alone', 1],
    ])
    expect(valuesOf('turns').toSorted()).toEqual([
      ['parcel', 2],
      ['parcel', 5],
    ])
    const events = readFileSync(out, 'utf8')
      .trim()
      .split('\n')
      .map((line) => readOtlpJson(JSON.parse(line))?.logs[0])
    const event = events.find((each) => each?.attributes['spanscore.turns'] === 5)
    expect(event?.attributes).toMatchObject({
      'gen_ai.conversation.id': 'parcel',
      'session.id': 'parcel',
      'spanscore.level': 'conversation',
      'spanscore.revision': 5,
    })
    expect(event?.traceId).toBe(`c1${'4'.padStart(30, '0')}`)
    expect(event?.spanId).toBeFalsy()
  })

  it('are named in the table and counted', async () => {
    const { stdout } = await runCommand(['score', traces, '--config', config])
    expect(stdout).toContain('abandoned (conversations) ↓')
    expect(stdout).toMatch(/9 runs in \d+ spans, 3 conversations\./)
    expect(stdout).toContain('– Runs of clerk have no id of a conversation')
  })

  it('are doubted if ids look wrong: one for everybody, one for each request, or one of two agents', async () => {
    const many = Array.from({ length: 201 }, (_, index) => ({ user: `Q${index}`, answer: 'A' }))
    const once = chatRequests(many.slice(0, 2), { id: 'x' }).slice(1)
    const each = Array.from({ length: 100 }, (_, index) =>
      JSON.parse(
        JSON.stringify(once)
          .replaceAll('"x"', `"id-${index}"`)
          .replaceAll('c000', `d${index.toString(16).padStart(3, '0')}`),
      ),
    ).flat()
    const together = ['desk', 'titles'].flatMap((agent) =>
      chatRequests([{ user: 'Hi', answer: 'A' }], { id: 'two', agent, prefix: agent === 'desk' ? 'e1' : 'e2' }),
    )
    const requests = [...each, ...together, ...chatRequests(many, { id: 'all', prefix: 'f0' })]
    const wrong = file('wrong.jsonl', requests.map((request) => JSON.stringify(request)).join('\n'))
    const { stdout } = await runCommand(['score', wrong, '--config', config])
    const shown = stdout.replaceAll(/\s+/g, ' ')
    expect(shown).toContain('A conversation of clerk has more than 200 runs. Do all users have the same id?')
    expect(shown).toContain('Does clerk write a new id with every request?')
    expect(shown).toContain('Runs of two agents of one conversation overlap.')
  })

  it('are listed by inspect with their turns', async () => {
    const { stdout } = await runCommand(['inspect', traces])
    expect(stdout).toContain('conversation parcel with clerk: 5 turns\n  1 Hello, where is my parcel?')
    const { conversations } = JSON.parse((await runCommand(['inspect', traces, '--json'])).stdout)
    expect(conversations).toMatchObject([
      { id: 'parcel', service: 'shop', complete: true, agents: ['clerk'] },
      { id: 'parcel', service: 'other-shop', complete: true, turns: [{}, {}] },
    ])
  })
})

it('are refused in a process, which sees only parts of them', () => {
  expect(() => attachScoring({ scorers: [createAbandonedScorer()] })).toThrow(
    'expected a scorer of runs or calls, got abandoned, which scores conversations',
  )
})
