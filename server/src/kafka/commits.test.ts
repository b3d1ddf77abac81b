import { expect, it, vi } from 'vitest'

import { Commits } from './commits.ts'
import type { Commit } from './offset-states.ts'
import type { PartitionLog } from './partition-log.ts'
import { noCounts } from './worker-counts.ts'

type Positions = Parameters<ConstructorParameters<typeof Commits>[0]['member']['commit']>[0]

function textOf(positions: Positions): string {
  return [...positions]
    .flatMap(([topic, all]) => all.map((each) => `${topic}/${each.partition}@${each.offset}${each.metadata}`))
    .join(' ')
}

/** Two partitions: the first has short commits, the second a long one that is written when a test allows it. */
function setUp() {
  const state: { nowMs: number; generation: number; refusal: string | undefined } = {
    nowMs: 0,
    generation: 1,
    refusal: undefined,
  }
  const committed: { readonly text: string; readonly generation: number }[] = []
  const writes: { readonly done: (commit: Commit) => void; readonly fail: () => void }[] = []
  const lines: string[] = []
  const shortened: string[][] = []
  const partition = (metadata: string) => ({
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what commits use of it
    log: {
      commits: () => new Map(['spans', 'logs'].map((topic) => [topic, { offset: state.nowMs, metadata }])),
    } as unknown as PartitionLog,
  })
  const [short, long] = [partition(''), partition('long')]
  const counts = noCounts()
  const partitions = new Map([
    [0, short],
    [1, long],
  ])
  const commits = new Commits({
    member: {
      get generation() {
        return state.generation
      },
      commit: (positions, generation) => {
        committed.push({ text: textOf(positions), generation })
        const { refusal } = state
        return refusal === undefined
          ? Promise.resolve()
          : Promise.reject(Object.assign(new Error('refused'), { apiId: refusal }))
      },
    },
    long: {
      isLong: ({ metadata }) => metadata === 'long',
      shorten: (refused) => {
        shortened.push(refused.map(({ metadata }) => metadata))
        return shortened.length === 1 ? 16 : undefined
      },
      write: () =>
        new Promise((resolve, reject) => {
          writes.push({ done: resolve, fail: () => reject(new Error('no leader')) })
        }),
    },
    partitions,
    counts,
    report: (line) => lines.push(line),
    now: () => state.nowMs,
  })
  for (const each of [short, long]) commits.begin(each)
  return { state, commits, committed, writes, lines, shortened, counts, partitions, short, long }
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

it('delays no other partition by one whose commit is being written to it, whose topics are committed together', async () => {
  const { state, commits, committed, writes, counts, short, long } = setUp()
  for (state.nowMs = 1000; state.nowMs <= 5000; state.nowMs += 1000) expect(await commits.commit()).toBe(true)
  expect(committed.map(({ text }) => text)).toEqual(
    [1, 2, 3, 4, 5].map((second) => `spans/0@${second}000 logs/0@${second}000`),
  )
  expect([commits.ageMs(short), commits.ageMs(long)]).toEqual([1000, 6000])
  // One is in progress at a time.
  expect(writes).toHaveLength(1)
  writes[0]?.done({ offset: 1000, metadata: 'a' })
  await turn()
  expect(committed).toHaveLength(5)
  writes[1]?.done({ offset: 1000, metadata: 'b' })
  await turn()
  expect(committed.at(-1)?.text).toBe('spans/1@1000a logs/1@1000b')
  // It is as old as the moment at which it was taken.
  expect(commits.ageMs(long)).toBe(5000)
  expect(counts).toMatchObject({ commits: 6, longCommits: 1 })
})

it('commits in the generation in which states were taken, so that brokers refuse what is no longer owned', async () => {
  const { state, commits, committed, writes } = setUp()
  await commits.commit()
  state.generation = 2
  for (const metadata of ['a', 'b']) {
    writes.at(-1)?.done({ offset: 0, metadata })
    await turn()
  }
  expect(committed.map(({ generation }) => generation)).toEqual([1, 1])
})

it('reports a commit that could not be written, and writes the next one', async () => {
  const { commits, committed, writes, lines, counts } = setUp()
  await commits.commit()
  writes[0]?.fail()
  await turn()
  expect(lines).toEqual(['The progress of partition 1 could not be written to it: no leader.'])
  expect(counts).toMatchObject({ failedCommits: 1, longCommits: 0 })
  await commits.commit()
  expect(writes).toHaveLength(2)
  expect(committed).toHaveLength(2)
})

it('gives up at once on partitions that no longer exist, but not if they exist again since then', async () => {
  vi.useFakeTimers()
  const { state, commits, committed, partitions, writes, long } = setUp()
  partitions.delete(1)
  state.refusal = 'UNKNOWN_TOPIC_OR_PARTITION'
  await commits.commitUntil(10_000)
  expect(committed).toHaveLength(1)
  state.refusal = undefined
  expect(await commits.commit()).toBe(true)
  partitions.set(1, long)
  const ended = commits.commitUntil(10_000)
  await vi.advanceTimersByTimeAsync(100)
  writes[0]?.fail()
  await vi.advanceTimersByTimeAsync(500)
  for (const topic of [1, 2]) {
    writes[topic]?.done({ offset: 0, metadata: '' })
    await vi.advanceTimersByTimeAsync(100)
  }
  await ended
  expect(committed.at(-1)?.text).toBe('spans/1@0 logs/1@0')
  vi.useRealTimers()
})

it('writes shorter metadata to the partition when the broker accepts less, and says so', async () => {
  const { state, commits, lines, shortened } = setUp()
  state.refusal = 'OFFSET_METADATA_TOO_LARGE'
  expect(await commits.commit()).toBe(false)
  expect(shortened).toEqual([['', '']])
  expect(lines.at(-1)).toContain('offset.metadata.max.bytes')
  expect(lines.at(-1)).toContain('16 characters')
  await commits.commit()
  expect(lines.at(-1)).toContain('Progress could not be committed')
})
