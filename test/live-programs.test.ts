import { describe, expect, it } from 'vitest'

import { createRandom } from './fuzz/random.ts'
import { factsOf, outlineOf, runProgram, said } from './live-programs/program.ts'
import type { Program, ProgramSpan } from './live-programs/program.ts'
import { randomProgram } from './live-programs/random-program.ts'
import type { ProgramTraits } from './live-programs/random-program.ts'

const SEEDS = 200

const TRAITS: Readonly<Record<string, ProgramTraits>> = {
  'agents, tools and model calls': { kinds: ['agent', 'tool', 'chat'], isTalkative: false, maxTraces: 1 },
  'conversations over two traces': { kinds: ['agent', 'tool', 'chat', 'chat'], isTalkative: true, maxTraces: 2 },
  'ordinary spans between them': {
    kinds: ['agent', 'tool', 'chat', 'ordinary', 'ordinary'],
    isTalkative: true,
    maxTraces: 2,
  },
  'workflows and evaluations around them': {
    kinds: ['agent', 'tool', 'chat', 'ordinary', 'entry', 'entry', 'evaluator'],
    isTalkative: true,
    maxTraces: 2,
  },
}

describe.each(Object.entries(TRAITS))('Programs with %s', (_, traits) => {
  it('give the runs of the file, whatever their tree and the order of their hooks', async () => {
    const different: number[] = []
    for (let seed = 1; seed <= SEEDS; seed += 1) {
      const { live, file } = await runProgram(randomProgram(createRandom(seed), traits))
      if (JSON.stringify(factsOf(live)) !== JSON.stringify(factsOf(file))) different.push(seed)
    }
    expect(different).toEqual([])
  })
})

const agent = (name: string, more: Partial<ProgramSpan> = {}): ProgramSpan => ({
  kind: 'agent',
  attributes: { 'gen_ai.agent.name': name },
  ...more,
})
const chat = (answer: string, more: Partial<ProgramSpan> = {}): ProgramSpan => ({
  kind: 'chat',
  endAttributes: said(`What of ${answer}?`, answer),
  ...more,
})
const tool = (name: string, more: Partial<ProgramSpan> = {}): ProgramSpan => ({
  kind: 'tool',
  attributes: { 'gen_ai.tool.name': name },
  ...more,
})

/** Each span starts in its place, and ends in the order given. */
function program(spans: readonly ProgramSpan[], ends: readonly number[] = [...spans.keys()].toReversed()): Program {
  return { spans, hooks: [...spans.map((_, at) => ['start', at] as const), ...ends.map((at) => ['end', at] as const)] }
}

describe('What a program did is what is scored, and what its file says', () => {
  it.each<{ what: string; program: Program; runs: unknown }>([
    {
      what: 'a model is called beside an agent, below one workflow',
      program: program([{ kind: 'entry' }, chat('Rain', { parent: 0 }), agent('Ann', { parent: 0 })]),
      runs: [['Rain'], ['Ann']],
    },
    {
      what: 'a loop without an agent calls a tool that starts one',
      program: program([
        { kind: 'ordinary' },
        chat('Rain', { parent: 0 }),
        tool('ask', { parent: 0 }),
        agent('Ann', { parent: 2 }),
      ]),
      runs: [['Rain', 'ask'], ['Ann']],
    },
    {
      what: 'a workflow ends before the agent that it started',
      program: program([{ kind: 'entry' }, chat('Rain', { parent: 0 }), agent('Ann', { parent: 0 })], [1, 0, 2]),
      runs: [['Rain'], ['Ann']],
    },
    {
      what: 'a tool of a workflow that is an agent itself starts an agent',
      program: program([
        { kind: 'entry' },
        chat('Rain', { parent: 0 }),
        tool('ask', { parent: 0 }),
        agent('Ann', { parent: 2 }),
      ]),
      runs: [['Rain', 'ask', [['Ann']]]],
    },
    {
      what: 'an agent says right after its start that it is one, and hands over to another that ends first',
      program: program([agent('Ann', { isSetLater: true }), agent('Bob', { parent: 0 }), chat('Rain', { parent: 1 })]),
      runs: [['Ann']],
    },
  ])('$what', async ({ program: given, runs }) => {
    const { live, file, ledger } = await runProgram(given)
    expect(outlineOf(file)).toEqual(runs)
    expect(outlineOf(live)).toEqual(runs)
    expect(ledger.runs).toMatchObject({ seen: live.length, closed: live.length, open: 0, late: 0, duplicates: 0 })
  })
})
