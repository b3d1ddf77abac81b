import { beforeAll, expect, test } from 'vitest'

import { LongTurns } from '../fuzz/long-turns.ts'
import { readingMs } from './dense-run.ts'
import type { DenseShape } from './dense-run.ts'
import { endLargeRuns, shutDownWithoutTime, warmUp } from './large-run-endings.ts'
import type { Ending } from './large-run-endings.ts'

/** Milliseconds of processor time that one turn may take; on a slow machine, everything takes longer. */
const limitMs = (): number => Math.max(50, readingMs() / 4)

beforeAll(warmUp)

/** The turns that took long while large runs were read. */
async function longTurns(shape: DenseShape, ending: Ending): Promise<readonly string[]> {
  const turns = new LongTurns(limitMs())
  await endLargeRuns(shape, ending, (what) => turns.begin(what))
  return turns.report().own.map(({ text }) => text)
}

test.each<{ shape: DenseShape; ending: Ending }>([
  { shape: 'results', ending: 'shutdown' },
  { shape: 'results', ending: 'two shutdowns' },
  { shape: 'results', ending: 'flush' },
  { shape: 'messages', ending: 'shutdown' },
  { shape: 'messages', ending: 'flush, then shutdown' },
  { shape: 'no agent', ending: 'flush' },
  { shape: 'no agent', ending: 'two flushes' },
  { shape: 'no agent', ending: 'shutdown' },
  { shape: 'no agent', ending: 'flush, then shutdown' },
  { shape: 'calls by themselves', ending: 'flush' },
  { shape: 'calls by themselves', ending: 'shutdown' },
])('$ending reads large runs ($shape) in no long turn', async ({ shape, ending }) => {
  const found = await longTurns(shape, ending)
  // Work that is not divided takes long every time; on a busy machine a single turn may take long.
  expect(found.length === 0 ? found : await longTurns(shape, ending)).toEqual([])
})

test('a shutdown without time does not read large runs', async () => {
  const turns = new LongTurns(limitMs())
  await shutDownWithoutTime((what) => turns.begin(what))
  expect(turns.report().own).toEqual([])
})
