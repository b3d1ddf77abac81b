import { expect, test } from 'vitest'

import { AgentlessRuns } from './agentless-runs.ts'
import type { LiveGroup } from './live-span.ts'
import type { SpanGroups } from './span-groups.ts'

test('A held group does not keep the event loop busy if nothing is awaited', () => {
  let nowMs = 1000
  let layouts = 0
  const runs = new AgentlessRuns({
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- groups are only looked up below a span that has ended
    groups: {} as SpanGroups,
    links: { get: () => undefined },
    settleMs: 0,
    now: () => nowMs,
    onSettled: () => undefined,
    isSecondRecord: () => false,
    onDuplicate: () => undefined,
    isHeld: () => {
      layouts += 1
      return true
    },
    close: () => undefined,
  })
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what is read of a group that nobody wants to score
  runs.wait({
    isFlat: true,
    spans: [],
    openCount: 0,
    hasRun: false,
    closed: false,
    wanted: false,
  } as unknown as LiveGroup)
  const endMs = nowMs + 1000
  for (; nowMs < endMs; nowMs += 1) {
    const { nextMs } = runs
    if (nextMs !== undefined && nextMs <= nowMs) runs.sweep(0)
  }
  expect(layouts).toBeGreaterThan(1)
  expect(layouts).toBeLessThanOrEqual(101)
})
