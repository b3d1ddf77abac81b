import { beforeAll, expect, test } from 'vitest'

import type { DenseShape } from './dense-run.ts'
import { codeScorers, endLargeRuns, judgeScorer, shutDownWithoutTime, warmUp } from './large-run-endings.ts'
import type { Ending } from './large-run-endings.ts'

beforeAll(warmUp)

test.each<{ shape: DenseShape; ending: Ending }>([
  { shape: 'results', ending: 'two shutdowns' },
  { shape: 'messages', ending: 'flush, then shutdown' },
  { shape: 'no agent', ending: 'two flushes' },
  { shape: 'calls by themselves', ending: 'shutdown' },
])('$ending reads large runs ($shape), and loses nothing', async ({ shape, ending }) => {
  const { ledger, handedOn } = await endLargeRuns(shape, ending)
  expect(ledger.runs).toMatchObject({ seen: 2, closed: 2, open: 0, evicted: 0 })
  for (const { id } of codeScorers) {
    expect(ledger.scorers[id]).toMatchObject({ offered: 2, failed: 0, pending: 0 })
    expect(ledger.scorers[id]?.reasons).not.toHaveProperty('shutdown')
  }
  expect(ledger.scorers['tool_errors']).toMatchObject({ scored: 2 })
  expect(ledger.scorers[judgeScorer.id]).toMatchObject({ offered: 2, failed: 0, pending: 0 })
  expect(ledger.scorers[judgeScorer.id]?.scored).toBeGreaterThanOrEqual(ending.includes('shutdown') ? 0 : 2)
  const agents = handedOn.filter(({ name }) => name.startsWith('invoke_agent'))
  expect(new Set(agents).size).toBe(shape.startsWith('no agent') || shape.startsWith('calls by') ? 0 : 2)
  for (const { attributes } of agents) expect(attributes).toHaveProperty('spanscore.tool_errors.score')
})

test('a shutdown without time gives up large runs, and counts them in the ledger', async () => {
  const { runs, scorers } = await shutDownWithoutTime()
  expect(runs).toMatchObject({ seen: 1, closed: 1, open: 0 })
  expect(scorers[judgeScorer.id]).toMatchObject({ offered: 1, pending: 0, reasons: { shutdown: 1 } })
  // Code may have been asked before.
  for (const { id } of codeScorers) expect(scorers[id]).toMatchObject({ offered: 1, failed: 0, pending: 0 })
})
