import { inspect } from 'node:util'

import { describe, expect, it } from 'vitest'

import { buildRuns, reconstructRuns } from '../runs/build-runs.ts'
import { createScorer } from '../scorers/create/create-scorer.ts'
import type { StepRun } from '../scorers/create/scorer-steps.ts'
import { createScriptedJudge } from '../testing/scripted-judge.ts'
import type { AgentRun } from '../model/agent-run.ts'
import { plain, AGENT_RUN_FACTS } from '../model/facts.ts'
import type { Score } from '../model/score.ts'
import { treeSpan } from '../../test/fixtures/source-span.ts'
import { evaluate } from './evaluate.ts'
import type { RunFact } from './absence.ts'
import { Reads } from './reads.ts'
import { scorerView } from './run-view.ts'

const said = (role: string, ...parts: readonly object[]) => JSON.stringify([{ role, parts }])
const text = (content: string) => ({ type: 'text', content })

interface Recording {
  readonly content?: boolean
  readonly fails?: boolean
}

/** An agent that asks for the weather and answers, as the GenAI conventions record it. */
function weatherSpans({ content = true, fails = false }: Recording = {}) {
  const contentOf = (attributes: Record<string, unknown>) => (content ? attributes : {})
  const failed = { status: { code: 'error', message: 'overloaded' }, attributes: { 'error.type': '529' } } as const
  const asks = said('assistant', { type: 'tool_call', id: '1', name: 'weather', arguments: { city: 'Oslo' } })
  return [
    treeSpan('a', undefined, {
      ...(fails && { status: failed.status }),
      attributes: { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': 'helper' },
    }),
    treeSpan('b', 'a', {
      ...(fails && { status: failed.status }),
      attributes: {
        'gen_ai.operation.name': 'chat',
        ...contentOf({ 'gen_ai.input.messages': said('user', text('Rain in Oslo?')) }),
        ...(fails ? failed.attributes : contentOf({ 'gen_ai.output.messages': asks })),
      },
    }),
    ...(fails
      ? []
      : [
          treeSpan('c', 'a', {
            attributes: {
              'gen_ai.operation.name': 'execute_tool',
              'gen_ai.tool.name': 'weather',
              'gen_ai.tool.call.id': '1',
              ...contentOf({
                'gen_ai.tool.call.arguments': '{"city":"Oslo"}',
                'gen_ai.tool.call.result': '{"rain":1}',
              }),
            },
          }),
          treeSpan('d', 'a', {
            attributes: {
              'gen_ai.operation.name': 'chat',
              ...contentOf({ 'gen_ai.output.messages': said('assistant', text('Yes, see https://yr.no.')) }),
            },
          }),
        ]),
  ]
}

function weatherRun(recording: Recording = {}): AgentRun {
  const [run] = buildRuns(weatherSpans(recording))
  if (run === undefined) throw new Error('expected a run')
  return run
}

/** What a scorer with this one step gives for a run. */
async function scoreBy(
  step: (run: AgentRun) => number | boolean,
  run: AgentRun,
  mayLack: readonly RunFact[] = [],
): Promise<Score> {
  const scorer = createScorer({ id: 'own', description: '', mayLack }).generateScore(({ agentRun }) => step(agentRun))
  return (await evaluate(scorer, run)).score
}

const reads: readonly (readonly [string, RunFact, (run: AgentRun) => number])[] = [
  ['output', 'output', ({ output }) => Number(output?.includes('https') === true)],
  ['userInput', 'input', ({ userInput }) => Number(userInput?.includes('Oslo') === true)],
  ['input', 'input', ({ input }) => Number(input.length > 0)],
  ['the messages of a step', 'output', ({ steps }) => Number(steps.every(({ output }) => output !== undefined))],
  ['the request of a step', 'input', ({ steps }) => Number(steps[0]?.input !== undefined)],
  ['arguments', 'arguments', ({ toolCalls }) => Number(toolCalls.every((call) => call.arguments !== undefined))],
  ['result', 'result', ({ toolCalls }) => Number(toolCalls.every(({ result }) => result !== undefined))],
]

describe('A scorer that reads a fact', () => {
  it.each(reads)('is scored if the run has it: %s', async (_, _fact, step) => {
    expect(await scoreBy(step, weatherRun())).toMatchObject({ status: 'scored', value: 1 })
  })

  it.each(reads)('is skipped with the reason and the cure if the run lacks it: %s', async (_, fact, step) => {
    expect(await scoreBy(step, weatherRun({ content: false }))).toMatchObject({
      status: 'skipped',
      reason: 'no-content',
      messageWithoutContent: expect.stringMatching(new RegExp(`^own: the spans do not hold .*${fact} \\(`)),
    })
  })

  it.each(reads)('is scored if its absence counts: %s', async (_, fact, step) => {
    expect(await scoreBy(step, weatherRun({ content: false }), [fact])).toMatchObject({ status: 'scored', value: 0 })
  })

  it('is skipped if the run failed before it could have the fact', async () => {
    const run = weatherRun({ fails: true })
    const failed = { status: 'skipped', reason: 'run-failed' }
    expect(await scoreBy(({ output }) => Number(output !== undefined), run)).toMatchObject(failed)
    expect(await scoreBy(({ toolCalls }) => Number(toolCalls.length > 0), run)).toMatchObject(failed)
    expect(await scoreBy(({ usage }) => usage.outputTokens ?? 0.5, run)).toMatchObject({ value: 0.5 })
  })

  it('is skipped if the run waits and has no answer yet', async () => {
    const { toolCalls, ...facts } = JSON.parse(JSON.stringify(weatherRun())) as AgentRun
    const waiting: AgentRun = {
      ...facts,
      status: 'waiting',
      output: undefined,
      toolCalls: toolCalls.map((call) => ({ ...call, status: 'waiting' })),
    }
    const skips = { status: 'skipped', reason: 'not-finished' }
    expect(await scoreBy(({ output }) => Number(output !== undefined), waiting)).toMatchObject(skips)
    expect(await scoreBy(({ toolCalls: all }) => Number(all.length > 0), waiting)).toMatchObject(skips)
  })

  it('is scored by names of calls that spans show without content', async () => {
    const run = weatherRun({ content: false })
    const score = await scoreBy(({ toolCalls }) => toolCalls.some(({ name }) => name === 'weather'), run)
    expect(score).toMatchObject({ value: 1 })
  })

  it('is skipped if reading a part of the missing fact throws', async () => {
    const score = await scoreBy(({ output }) => output!.length, weatherRun({ content: false }))
    expect(score).toMatchObject({ reason: 'no-content' })
  })

  it('sees the same in nested runs', async () => {
    const run = { ...weatherRun(), children: [weatherRun({ content: false })] }
    const score = await scoreBy(({ children }) => children.every(({ output }) => output !== undefined), run)
    expect(score).toMatchObject({ reason: 'no-content' })
  })

  it('skips for a reason of its own', async () => {
    const scorer = createScorer({ id: 'own', description: '' }).generateScore(({ agentRun }) =>
      agentRun.output === undefined ? { status: 'skipped', reason: 'filtered', message: 'Not mine.' } : 1,
    )
    expect((await evaluate(scorer, weatherRun({ content: false }))).score).toMatchObject({ reason: 'filtered' })
  })

  it('reads nothing by writing or printing the whole run, nor by copying one that can be copied', async () => {
    const ways: ((run: AgentRun) => unknown)[] = [JSON.stringify, (run) => inspect(run, { depth: 5 })]
    for (const write of ways) {
      const step = (run: AgentRun) => String(write(run)).includes('weather')
      expect(await scoreBy(step, weatherRun({ content: false }))).toMatchObject({ value: 1 })
    }
    const [copyable] = reconstructRuns(weatherSpans({ content: false }))
    if (copyable === undefined) throw new Error('expected a run')
    const copies: ((run: AgentRun) => AgentRun)[] = [
      (run) => ({ ...run }),
      structuredClone,
      (run) => Object.assign({}, run),
    ]
    for (const copy of copies) {
      expect(await scoreBy((run) => copy(run).spanId === run.spanId, copyable)).toMatchObject({ value: 1 })
      expect(await scoreBy((run) => copy(run).spanId.length + (run.output ?? '').length, copyable)).toMatchObject({
        reason: 'no-content',
      })
      expect(await scoreBy((run) => (run.output ?? '').length + copy(run).spanId.length, copyable)).toMatchObject({
        reason: 'no-content',
      })
    }
  })
})

const asking = (content: (run: StepRun) => string) =>
  createScorer({
    id: 'asks',
    description: '',
    judge: { model: createScriptedJudge({ json: { score: 1 } }) },
  }).generateScore({ description: 'Rates the answer.', createPrompt: ({ run, quote }) => quote(content(run)) })

describe('A prompt step that reads a fact', () => {
  it('is sent if the run has it', async () => {
    const scorer = asking(({ output }) => String(output))
    expect((await evaluate(scorer, weatherRun())).score).toMatchObject({ status: 'scored', value: 1 })
  })

  it('is not sent if the run lacks it', async () => {
    for (const content of [(run: StepRun) => String(run.output), (run: StepRun) => (run.output as string).trim()]) {
      const evaluation = await evaluate(asking(content), weatherRun({ content: false }))
      expect(evaluation.score).toMatchObject({ status: 'skipped', reason: 'no-content' })
      expect(evaluation.judge).toBeUndefined()
    }
  })

  it('keeps the report of prompts that were sent before', async () => {
    const scorer = createScorer({
      id: 'asks',
      description: '',
      judge: { model: createScriptedJudge({ json: { tone: 'kind' } }) },
    })
      .analyze({
        description: 'Finds the tone.',
        outputSchema: { type: 'object', properties: { tone: { type: 'string' } } },
        createPrompt: () => 'Which tone?',
      })
      .generateScore(({ agentRun }) => Number(agentRun.output !== undefined))
    const { score, judge: report } = await evaluate(scorer, weatherRun({ content: false }))
    expect(score).toMatchObject({ status: 'skipped', reason: 'no-content' })
    expect(report).toMatchObject({ calls: 1 })
  })
})

describe('A score of true or false', () => {
  it('is 1 or 0 in the range from 0 to 1, and invalid in any other', async () => {
    expect(await scoreBy(() => true, weatherRun())).toMatchObject({ value: 1, label: 'pass' })
    expect(await scoreBy(() => false, weatherRun())).toMatchObject({ value: 0, label: 'fail' })
    const wider = createScorer({ id: 'own', description: '', range: [0, 10] }).generateScore(() => true)
    expect((await evaluate(wider, weatherRun())).score).toMatchObject({ status: 'failed', code: 'invalid-score' })
  })
})

it('An option mayLack must name facts', () => {
  expect(() => createScorer({ id: 'own', description: '', mayLack: ['answer' as RunFact] })).toThrow(
    'createScorer: expected mayLack to be a list of input, output, systemInstructions, availableTools, toolCalls, arguments, result, documents, got ["answer"].',
  )
})

it('Every fact of a run is read from its view, also that it is a conversation', () => {
  const run = weatherRun()
  const conversation: NonNullable<AgentRun['conversation']> = {
    turns: [],
    runs: [],
    earlier: [],
    startTimeMs: 0,
    endTimeMs: 0,
    endedBy: 'idle',
    complete: true,
    missing: [],
    revision: 1,
  }
  const view = scorerView(new Reads({ ...plain(run, AGENT_RUN_FACTS), conversation }, 'x', new Set()), false)
  expect(view.conversation).toBe(conversation)
  for (const fact of Object.keys(AGENT_RUN_FACTS)) expect(fact in view).toBe(true)
  expect(JSON.parse(JSON.stringify(view))).toEqual(
    JSON.parse(JSON.stringify({ ...plain(run, AGENT_RUN_FACTS), conversation })),
  )
})
