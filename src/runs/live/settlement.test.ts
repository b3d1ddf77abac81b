import { expect, it } from 'vitest'

import type { LiveRun } from './live-run.ts'
import type { LiveSpan } from './live-span.ts'
import { Settlement } from './settlement.ts'
import { SpanGroup } from './span-group.ts'

const run = (name: string, hasOpenSpans: boolean) =>
  ({ name, hasOpenSpans, nested: false, freeze: () => undefined }) as unknown as LiveRun

it('settles every run of a group once, even if settling one causes the others to be checked again', () => {
  const group = new SpanGroup<LiveSpan>('t', true, 0)
  const settled: string[] = []
  const names = new Map<LiveRun, string>()
  const settlement = new Settlement({
    deadlines: { add: () => undefined } as never,
    rescore: false,
    onSettled: (one) => {
      settled.push(names.get(one) ?? '')
      // What scoring a run does may end a span of its group.
      settlement.settleDue(group)
    },
    settled: () => undefined,
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
    settlement.wait({ group, run: one } as unknown as LiveSpan, one)
  }
  settlement.settleDue(group)
  expect(settled).toEqual(['a', 'b'])
  expect(settlement.waiting).toBe(1)
  settlement.settleAllOf(group)
  expect(settled).toEqual(['a', 'b', 'open'])
  expect(settlement.waiting).toBe(0)
})
