import { describe, expect, it } from 'vitest'

import { createRandom } from './fuzz/random.ts'
import { factsOf, outlineOf, runProgram, said } from './live-programs/program.ts'
import type { Program, ProgramSpan } from './live-programs/program.ts'
import { inSequence, randomProgram, withoutLoss, withPlainLoss } from './live-programs/random-program.ts'
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
  'parents that were never seen': {
    kinds: ['agent', 'tool', 'chat', 'ordinary', 'entry', 'unseen', 'unseen'],
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

it('Spans below lost parents belong to the run that was active, if everything happens in sequence', async () => {
  const kinds: ProgramTraits['kinds'] = [
    'agent',
    'agent',
    'tool',
    'tool',
    'chat',
    'chat',
    'ordinary',
    'unseen',
    'unseen',
  ]
  const different: number[] = []
  let lost = 0
  for (let seed = 1; seed <= 2 * SEEDS; seed += 1) {
    const any = randomProgram(createRandom(seed), { kinds, isTalkative: true, maxTraces: 1 })
    const given = withPlainLoss(inSequence(any))
    if (!given.spans.some(({ kind }) => kind === 'unseen')) continue
    lost += 1
    const { live, file } = await runProgram(given)
    const { file: truth } = await runProgram(withoutLoss(given))
    const isTrue = JSON.stringify(outlineOf(file)) === JSON.stringify(outlineOf(truth))
    if (!isTrue || JSON.stringify(factsOf(live)) !== JSON.stringify(factsOf(file))) different.push(seed)
  }
  expect(different).toEqual([])
  expect(lost).toBeGreaterThan(SEEDS / 4)
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

/** Each span starts in its place, and ends in the given order. */
function program(spans: readonly ProgramSpan[], ends: readonly number[] = [...spans.keys()].toReversed()): Program {
  return { spans, hooks: [...spans.map((_, at) => ['start', at] as const), ...ends.map((at) => ['end', at] as const)] }
}

describe('The runs that are scored, and those of the file, are what the program did', () => {
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

describe('A parent that was never seen', () => {
  const lost: ProgramSpan = { kind: 'unseen' }

  it('is below the agent that was active, whose run lacks it', async () => {
    const { live, file } = await runProgram(
      program([agent('Ann'), { ...lost, parent: 0 }, chat('Rain', { parent: 1 }), tool('search', { parent: 1 })]),
    )
    expect(outlineOf(file)).toEqual([['Ann', 'search']])
    expect(factsOf(live)).toEqual(factsOf(file))
    expect([live[0]?.complete, file[0]?.complete]).toEqual([false, false])
  })

  it('makes the runs of all active agents incomplete, and what is below it belongs to none of them', async () => {
    const { live, file } = await runProgram(
      program([agent('Ann'), agent('Bob'), { ...lost, parent: 0 }, chat('Rain', { parent: 2 })]),
    )
    expect(outlineOf(file)).toEqual([['Ann'], ['Bob'], ['Rain']])
    expect(factsOf(live)).toEqual(factsOf(file))
    expect([...live, ...file].map(({ complete }) => complete)).toEqual(Array.from({ length: 6 }, () => false))
  })

  it('is in no run if two tools of one agent were active', async () => {
    const { live, file } = await runProgram(
      program([
        agent('Ann'),
        tool('search', { parent: 0 }),
        tool('ask', { parent: 0 }),
        { ...lost, parent: 2 },
        chat('Rain', { parent: 3 }),
      ]),
    )
    expect(outlineOf(file)).toEqual([['Ann', 'search', 'ask']])
    expect(factsOf(live)).toEqual(factsOf(file))
    expect([live[0]?.complete, file[0]?.complete]).toEqual([false, false])
  })

  it('is above an agent and the sibling of that agent, if both name it', async () => {
    const { live, file } = await runProgram(program([lost, agent('Ann', { parent: 0 }), chat('Rain', { parent: 0 })]))
    expect(outlineOf(file)).toEqual([['Ann'], ['Rain']])
    expect(factsOf(live)).toEqual(factsOf(file))
  })
})
