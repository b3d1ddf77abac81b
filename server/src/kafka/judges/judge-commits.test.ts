import { expect, it, vi } from 'vitest'

import type { GroupMember } from '../group-member.ts'
import { JudgeCommits } from './judge-commits.ts'
import type { JudgePartition } from './judge-partition.ts'

type Taken = ReturnType<JudgePartition['takeCommit']>

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

/** A partition whose commits are numbered, and a broker that answers when the test requests it. */
function setUp() {
  const clock = { ms: 0 }
  const state = { isLong: false }
  const sent: string[] = []
  let dirty = true
  let number = 0
  const committed: number[] = []
  const partition = {
    number: 0,
    takeCommit: (): Taken => {
      if (!dirty) return undefined
      dirty = false
      number += 1
      return { commit: { offset: number, metadata: '' }, answered: [] }
    },
    committed: ({ commit }: NonNullable<Taken>) => void committed.push(commit.offset),
    notCommitted: () => {
      dirty = true
    },
  }
  const answers: { readonly take: () => void; readonly refuse: () => void }[] = []
  const member: Pick<GroupMember, 'commit' | 'generation'> = {
    generation: 1,
    commit: (positions) =>
      new Promise((resolve, reject) => {
        sent.push(...[...positions.values()].flat().map(({ metadata }) => metadata))
        answers.push({ take: resolve, refuse: () => reject(new Error('no commit')) })
      }),
  }
  const commits = new JudgeCommits({
    member,
    long: {
      isLong: () => state.isLong,
      write: (topic, of, { offset }) => Promise.resolve({ offset, metadata: `on ${topic}/${of}` }),
    },
    topic: 'jobs',
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what commits use of them
    partitions: new Map([[0, partition as unknown as JudgePartition]]),
    report: () => undefined,
    onCommitted: () => undefined,
    now: () => clock.ms,
  })
  const change = () => {
    dirty = true
  }
  return { commits, answers, change, committed, clock, state, sent }
}

it('puts changes made during a commit into the next one, for which all later callers wait', async () => {
  const { commits, answers, change, committed } = setUp()
  const first = commits.commit()
  await turn()
  change()
  const second = commits.commit()
  const third = commits.commit()
  await turn()
  expect(answers).toHaveLength(1)
  answers[0]?.take()
  expect(await first).toBe(true)
  await turn()
  expect(committed).toEqual([1])
  answers[1]?.take()
  expect(await Promise.all([second, third])).toEqual([true, true])
  expect(committed).toEqual([1, 2])
  // Nothing is sent, because nothing has changed.
  expect(await commits.commit()).toBe(true)
  expect(answers).toHaveLength(2)
})

it('reports a commit that the broker refused, and sends it again', async () => {
  const { commits, answers, committed, clock } = setUp()
  const first = commits.commit()
  await turn()
  answers[0]?.refuse()
  expect(await first).toBe(false)
  clock.ms = 5000
  expect(commits.failingForMs).toBe(5000)
  const second = commits.commit()
  await turn()
  answers[1]?.take()
  expect(await second).toBe(true)
  expect(committed).toEqual([2])
  expect(commits.failingForMs).toBe(0)
  expect(commits.counts).toEqual({ taken: 1, failed: 1 })
})

it('writes a commit to its partition that is longer than brokers accept', async () => {
  const { commits, answers, change, state, sent } = setUp()
  void commits.commit()
  await turn()
  answers[0]?.take()
  change()
  state.isLong = true
  const second = commits.commit()
  await turn()
  answers[1]?.take()
  expect(await second).toBe(true)
  expect(sent).toEqual(['', 'on jobs/0'])
})

it('does not wait beyond the given moment for a broker that does not answer', async () => {
  vi.useFakeTimers()
  const { commits, answers, clock } = setUp()
  let hasEnded = false
  const ending = commits.commitUntil(3000).then(() => {
    hasEnded = true
  })
  await vi.advanceTimersByTimeAsync(2000)
  expect([answers.length, hasEnded]).toEqual([1, false])
  clock.ms = 3000
  await vi.advanceTimersByTimeAsync(1500)
  expect(hasEnded).toBe(true)
  await ending
  vi.useRealTimers()
})
