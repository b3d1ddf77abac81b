import { expect, it } from 'vitest'

import { orderOf } from './corpus/hooks-order.ts'
import { libraryNames, loadLibrary, readScenario } from './corpus/load.ts'
import { replayTimed } from './corpus/replay.ts'

it('Runs that scorers read while their agent was ending are final in 98 of 100 recordings', () => {
  let [runs, revised] = [0, 0]
  for (const library of libraryNames()) {
    for (const scenario of loadLibrary(library)) {
      const { spans, logs } = readScenario(scenario)
      const order = scenario.order ?? orderOf(spans, 'all')
      const played = replayTimed(spans, logs, order, { clock: 'recorded', settleMs: 2000 })
      runs += played.runs.length
      revised += played.revised
    }
  }
  expect(runs).toBeGreaterThan(3000)
  expect(revised / runs).toBeLessThan(0.02)
})
