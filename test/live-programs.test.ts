import { isDeepStrictEqual } from 'node:util'

import { describe, expect, it } from 'vitest'

import { createRandom } from './fuzz/random.ts'
import { sources } from './corpus/product.ts'
import { outlineOf, runProgram, said } from './live-programs/program.ts'
import type { Program, ProgramSpan } from './live-programs/program.ts'
import { inSequence, randomProgram, withoutLoss, withPlainLoss } from './live-programs/random-program.ts'
import type { ProgramTraits } from './live-programs/random-program.ts'
import { TRAITS } from './live-programs/traits.ts'

const SEEDS = 100

describe.each(Object.entries(TRAITS))('Programs with %s', (_, traits) => {
  it('give the runs of the file, whatever their tree and the order of their hooks', async () => {
    const different: number[] = []
    for (let seed = 1; seed <= SEEDS; seed += 1) {
      const { live, file } = await runProgram(sources, randomProgram(createRandom(seed), traits))
      if (!isDeepStrictEqual(live, file)) different.push(seed)
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
    const { live, file, fileRuns } = await runProgram(sources, given)
    const { fileRuns: truth } = await runProgram(sources, withoutLoss(given))
    const isTrue = isDeepStrictEqual(outlineOf(fileRuns), outlineOf(truth))
    if (!isTrue || !isDeepStrictEqual(live, file)) different.push(seed)
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
    const { live, liveRuns, fileRuns, ledger } = await runProgram(sources, given)
    expect(outlineOf(fileRuns)).toEqual(runs)
    expect(outlineOf(liveRuns)).toEqual(runs)
    expect(ledger.runs).toMatchObject({ seen: live.length, closed: live.length, open: 0, late: 0, duplicates: 0 })
  })
})

describe('A parent that was never seen', () => {
  const lost: ProgramSpan = { kind: 'unseen' }

  it('is below the agent that was active, whose run lacks it', async () => {
    const { live, file, liveRuns, fileRuns } = await runProgram(
      sources,
      program([agent('Ann'), { ...lost, parent: 0 }, chat('Rain', { parent: 1 }), tool('search', { parent: 1 })]),
    )
    expect(outlineOf(fileRuns)).toEqual([['Ann', 'search']])
    expect(live).toEqual(file)
    expect([liveRuns[0]?.complete, fileRuns[0]?.complete]).toEqual([false, false])
  })

  it('makes the runs of all active agents incomplete, and what is below it belongs to none of them', async () => {
    const { live, file, liveRuns, fileRuns } = await runProgram(
      sources,
      program([agent('Ann'), agent('Bob'), { ...lost, parent: 0 }, chat('Rain', { parent: 2 })]),
    )
    expect(outlineOf(fileRuns)).toEqual([['Ann'], ['Bob'], ['Rain']])
    expect(live).toEqual(file)
    expect([...liveRuns, ...fileRuns].map(({ complete }) => complete)).toEqual(Array.from({ length: 6 }, () => false))
  })

  it('is in no run if two tools of one agent were active', async () => {
    const { live, file, liveRuns, fileRuns } = await runProgram(
      sources,
      program([
        agent('Ann'),
        tool('search', { parent: 0 }),
        tool('ask', { parent: 0 }),
        { ...lost, parent: 2 },
        chat('Rain', { parent: 3 }),
      ]),
    )
    expect(outlineOf(fileRuns)).toEqual([['Ann', 'search', 'ask']])
    expect(live).toEqual(file)
    expect([liveRuns[0]?.complete, fileRuns[0]?.complete]).toEqual([false, false])
  })

  it('is above an agent and the sibling of that agent, if both name it', async () => {
    const { live, file, fileRuns } = await runProgram(
      sources,
      program([lost, agent('Ann', { parent: 0 }), chat('Rain', { parent: 0 })]),
    )
    expect(outlineOf(fileRuns)).toEqual([['Ann'], ['Rain']])
    expect(live).toEqual(file)
  })
})
