import { expect, it, vi } from 'vitest'

import { AssignedCommits } from './assigned-commits.ts'

/** Three partitions: the commit of the first is short, and those of the others are on their partitions, whose leaders are away. */
function setUp() {
  const state = { isAway: true }
  const lines: string[] = []
  const opened: string[] = []
  const commits = new AssignedCommits({
    member: {
      committed: (topic, partition) =>
        Promise.resolve(topic === 'spans' ? { offset: 7, metadata: partition === 0 ? '' : 'elsewhere' } : undefined),
    },
    long: {
      isElsewhere: ({ metadata }) => metadata === 'elsewhere',
      read: (_topic, _partition, commit) =>
        state.isAway ? Promise.reject(new Error('no leader')) : Promise.resolve({ ...commit, metadata: 'whole' }),
    },
    topics: ['spans', 'logs'],
    report: (line) => lines.push(line),
  })
  const open = (partition: number) =>
    commits.read(partition, (found) => opened.push(`${partition} ${JSON.stringify([...found])}`))
  return { state, lines, opened, commits, open }
}

it('opens a partition when its leader answers, other partitions before that, and none that is no longer assigned', async () => {
  vi.useFakeTimers()
  const { state, lines, opened, commits, open } = setUp()
  for (const partition of [1, 2, 0]) await open(partition)
  expect(opened).toEqual(['0 [["spans",{"offset":7,"metadata":""}]]'])
  await vi.advanceTimersByTimeAsync(2000)
  expect(commits.waiting).toEqual([1, 2])
  expect(lines).toContain('The progress of partition 1 could not be read from it: no leader.')
  // The group shares out its partitions again: this process keeps one of the two.
  commits.keep([0, 1])
  await open(1)
  state.isAway = false
  await vi.advanceTimersByTimeAsync(2000)
  expect(opened.slice(1)).toEqual(['1 [["spans",{"offset":7,"metadata":"whole"}]]'])
  expect(commits.waiting).toEqual([])
  vi.useRealTimers()
})

it('opens no partition that is given away while its commit is read', async () => {
  const answers: (() => void)[] = []
  const opened: number[] = []
  const commits = new AssignedCommits({
    member: { committed: () => Promise.resolve({ offset: 7, metadata: 'elsewhere' }) },
    long: {
      isElsewhere: () => true,
      read: (_topic, _partition, commit) => new Promise((resolve) => answers.push(() => resolve(commit))),
    },
    topics: ['spans'],
    report: () => undefined,
  })
  for (const partition of [0, 1]) await commits.read(partition, () => opened.push(partition))
  commits.keep([1])
  for (const answer of answers) answer()
  await new Promise((resolve) => setImmediate(resolve))
  expect(opened).toEqual([1])
  expect(commits.waiting).toEqual([])
})
