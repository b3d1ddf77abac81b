import { expect, it } from 'vitest'

import type { LiveRun } from './live-run.ts'
import { Settlement } from './settlement.ts'
import type { SpanGroup } from './span-group.ts'

it('settles every run of a group once, where settling one has the others looked at again', () => {
  const group = { waiting: [], spans: [], closed: false } as unknown as SpanGroup
  const settled: string[] = []
  const run = (name: string, hasOpenSpans: boolean) =>
    ({ name, hasOpenSpans, nested: false, agent: { group }, freeze: () => undefined }) as unknown as LiveRun
  const names = new Map<LiveRun, string>()
  const settlement = new Settlement({
    deadlines: { add: () => undefined } as never,
    rescore: false,
    onSettled: (one) => {
      settled.push(names.get(one) ?? '')
      // What scoring a run does may end a span of its group.
      settlement.settleDue(group)
    },
    close: () => undefined,
    forget: () => undefined,
  })
  for (const [name, isOpen] of [
    ['a', false],
    ['open', true],
    ['b', false],
  ] as const) {
    const one = run(name, isOpen)
    names.set(one, name)
    settlement.wait(one)
  }
  settlement.settleDue(group)
  expect(settled).toEqual(['a', 'b'])
  expect(settlement.waiting).toBe(1)
  settlement.settleAllOf(group)
  expect(settled).toEqual(['a', 'b', 'open'])
  expect(settlement.waiting).toBe(0)
})
