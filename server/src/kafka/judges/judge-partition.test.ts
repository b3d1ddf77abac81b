import { HandedRuns } from 'spanscore/engine'
import type { Budget, BudgetHistory } from 'spanscore/engine'
import { createRubricScorer } from 'spanscore/scorers/prebuilt'
import { createFakeJudge } from 'spanscore/testing'
import { describe, expect, it } from 'vitest'

import type { Commit } from '../offset-states.ts'
import type { FetchedRecord } from '../records-of.ts'
import { JudgePartition } from './judge-partition.ts'

const runs = new HandedRuns({
  scorers: [
    createRubricScorer({
      model: createFakeJudge('lenient'),
      criteria: [{ id: 'polite', question: 'Is it polite?' }],
      judge: { price: { input: 1, output: 4 } },
    }),
  ],
  budget: { callsPerMinute: 30, tokensPerHour: 100_000, usdPerDay: 20 },
})

const clock = { ms: 1_700_000_000_000 }

function createBudget(history: BudgetHistory | undefined): Budget {
  return runs.createBudget(1, () => clock.ms, history)
}

function open(committed?: Commit) {
  const lines: string[] = []
  const partition = new JudgePartition({
    number: 0,
    committed,
    createBudget,
    monotonicMs: () => clock.ms,
    report: (line) => lines.push(line),
  })
  return { partition, lines }
}

function records(from: number, keys: readonly string[]): readonly FetchedRecord[] {
  return keys.map((key, index) => ({
    offset: from + index,
    appendMs: clock.ms,
    key,
    value: new Uint8Array(10),
    headers: new Map(),
  }))
}

const CALL = { calls: 1, tokens: 1000, costUsd: 0.01 }

/** Starts all jobs that are waiting. */
function beginAll(partition: JudgePartition): string[] {
  const begun: string[] = []
  for (let next = partition.begin(); next !== undefined; next = partition.begin()) {
    begun.push(next.isKnown ? `${next.record.key} again` : next.record.key)
  }
  return begun
}

describe('a partition of jobs', () => {
  it('gives a new owner the unfinished jobs, and knows those that were started before', () => {
    const { partition } = open()
    partition.take(records(0, ['a', 'b', 'c', 'd']), 4)
    expect(beginAll(partition)).toEqual(['a', 'b', 'c', 'd'])
    for (const offset of [0, 1, 3]) partition.finish(offset)
    const commit = partition.takeCommit()?.commit
    expect(commit?.offset).toBe(2)
    expect(partition.takeCommit()).toBeUndefined()

    const { partition: next } = open(commit)
    // It looks back, to recognize jobs that are on the topic twice.
    expect(next.next).toBe(0)
    next.take(records(0, ['a', 'b', 'c', 'd', 'a', 'd', 'e']), 7)
    expect(next.next).toBe(7)
    expect(beginAll(next)).toEqual(['c', 'a again', 'd again', 'e'])
  })

  it('looks back through the messages that the broker still has, and skips dropped ones', () => {
    const { partition } = open({ offset: 5000, metadata: '' })
    expect(partition.next).toBe(4000)
    expect(partition.skipTo(4500)).toBe(0)
    expect(partition.next).toBe(4500)
    partition.take(records(4999, ['a', 'b']), 5001)
    expect(partition.next).toBe(5001)
    expect(partition.skipTo(5011)).toBe(10)
    expect(partition.next).toBe(5011)
  })

  it('keeps asked jobs in flight until a commit that marks them as done was accepted', () => {
    const { partition } = open()
    partition.take(records(0, ['a', 'b']), 2)
    beginAll(partition)
    partition.willAsk(0)
    partition.willAsk(1)
    const early = partition.takeCommit()
    partition.finish(0)
    partition.committed(early!)
    expect(partition.inFlight).toBe(2)
    const late = partition.takeCommit()
    partition.notCommitted()
    expect([partition.inFlight, late?.answered]).toEqual([2, [0]])
    partition.committed(partition.takeCommit()!)
    expect(partition.inFlight).toBe(1)
    partition.didNotAsk(1)
    expect(partition.inFlight).toBe(0)
  })

  it('commits its spending in a form that the broker accepts, however full the windows are', () => {
    const { partition } = open()
    fill(partition.budget)
    partition.take(
      records(
        0,
        Array.from({ length: 64 }, (_, index) => `job-${index}`),
      ),
      64,
    )
    beginAll(partition)
    for (let offset = 1; offset < 64; offset += 2) partition.finish(offset)
    const commit = partition.takeCommit()?.commit
    expect(commit?.metadata.length).toBeLessThan(4000)
    const { partition: next, lines } = open(commit)
    expect(next.budget.usedRatio()).toBeCloseTo(partition.budget.usedRatio(), 4)
    expect(lines).toEqual([])
  })

  it('reports that it cannot read what was spent, and starts again from nothing', () => {
    const { partition, lines } = open({ offset: 3, metadata: 'of another program' })
    expect(lines).toEqual(['What partition 0 of the jobs has spent cannot be read: its budget starts again.'])
    expect(partition.budget.usedRatio()).toBe(0)
    expect(open().lines).toEqual([])
  })

  it('treats messages without a key as different', () => {
    const { partition } = open()
    partition.take(records(0, ['', '']), 2)
    expect(beginAll(partition)).toEqual(['', ''])
  })
})

/** Spends and settles different amounts in every part of every window. */
function fill(budget: Budget): void {
  for (let step = 0; step < 3000; step += 1) {
    clock.ms += 29_000 + (step % 61) * 7
    const point = ((step * 7919) % 1000) / 1000
    const decision = budget.admit({ point, rate: 1, factor: budget.factor(), estimate: CALL })
    if (decision.admitted) {
      decision.reservation.settle({ calls: 1, tokens: 700 + ((step * 31) % 577), costUsd: 0.0012345678 * (step % 13) })
    }
  }
}
