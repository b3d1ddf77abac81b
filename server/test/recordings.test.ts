import { buildRuns } from 'spanscore/engine'
import type { AgentRun, SourceLog, SourceSpan } from 'spanscore/engine'
import { check, integer, property, shuffledSubarray } from 'fast-check'
import { describe, expect, it } from 'vitest'

import { libraryNames, loadLibrary, readScenario } from '../../test/corpus/load.ts'
import { HeldTraces } from '../src/traces/held-traces.ts'
import { BUFFER_OPTIONS } from './buffer-options.ts'
import { runsOf, toRecord } from './held-records.ts'

/** Runs that have a part which looks like a separate run before the rest has arrived. */
const EXCEPTIONS: Readonly<Record<string, string>> = {}

/** Feeds spans in batches. @returns The latest settled version of each run */
function play(batches: readonly (readonly SourceSpan[])[], logs: readonly SourceLog[]): AgentRun[] {
  const buffer = new HeldTraces(BUFFER_OPTIONS)
  for (const [index, spans] of batches.entries())
    buffer.add(index + 1, toRecord(spans, index === 0 ? logs : []), index * 10)
  const runs: AgentRun[] = []
  // Almost all runs are complete in the first minute.
  for (let nowMs = 0; nowMs < 1_300_000; nowMs += nowMs < 60_000 ? 1000 : 20_000) {
    for (const settled of buffer.settle(nowMs).settled) {
      runs.push(...runsOf(settled))
      buffer.emitted(settled, nowMs)
    }
  }
  expect(buffer.traces).toBe(0)
  return runs
}

const jsonOf = (runs: readonly AgentRun[]) => JSON.stringify(runs.toSorted((a, b) => (a.id < b.id ? -1 : 1)))

describe('the spans of a recording, in any order and any batches, result in the runs of the file', () => {
  it.each(libraryNames())('%s', (library) => {
    const wrong: string[] = []
    for (const scenario of loadLibrary(library)) {
      const { spans, logs } = readScenario(scenario)
      // Runs that a library spreads over several traces are joined only if all of them are available.
      if (new Set(spans.map(({ traceId }) => traceId)).size > 1) continue
      if (spans.length === 0) continue
      const expected = jsonOf(buildRuns(spans, { logs }))
      const holds = check(
        property(
          shuffledSubarray([...spans], { minLength: spans.length }),
          integer({ min: 1, max: 7 }),
          (shuffled, size) => {
            const batches = Array.from({ length: Math.ceil(shuffled.length / size) }, (_, index) =>
              shuffled.slice(index * size, (index + 1) * size),
            )
            expect(jsonOf(play(batches, logs))).toBe(expected)
          },
        ),
        { numRuns: 3, seed: 20 },
      )
      if (holds.failed !== `${library}/${scenario.id}` in EXCEPTIONS)
        wrong.push(`${scenario.id}: ${JSON.stringify(holds.counterexample).slice(0, 200)}`)
    }
    expect(wrong).toEqual([])
  })
})
