import { describe, expect, it } from 'vitest'

import { buildRuns } from '../src/runs/build-runs.ts'
import { recognise } from '../src/spans/recognise.ts'
import type { SourceSpan } from '../src/spans/source-span.ts'
import { anyOrderOf } from './corpus/hooks-order.ts'
import { orderExceptions } from './corpus/live-exceptions.ts'
import { libraryNames, loadLibrary, readScenario } from './corpus/load.ts'
import type { Scenario } from './corpus/load.ts'
import { inOrder, replay } from './corpus/replay.ts'
import { createRandom } from './fuzz/random.ts'

const SEEDS = [1, 2, 3]

const used = new Set<(typeof orderExceptions)[number]>()

describe.each(libraryNames())('%s', (library) => {
  it('makes the runs of the file in every order of hooks in which parents start before their children', () => {
    const unexplained: string[] = []
    for (const scenario of loadLibrary(library)) {
      const seed = SEEDS.find((each) => differs(scenario, each))
      if (seed === undefined) continue
      const exception = orderExceptions.find((each) => each.library.test(library) && each.scenario.test(scenario.id))
      if (exception === undefined) unexplained.push(`${scenario.id} with seed ${seed}`)
      else used.add(exception)
    }
    expect(unexplained).toEqual([])
  })
})

it('needs every exception that it lists', () => {
  expect(orderExceptions.filter((exception) => !used.has(exception))).toEqual([])
})

function differs(scenario: Scenario, seed: number): boolean {
  const { spans, logs } = readScenario(scenario)
  // If parents do not show which spans belong together, the times do, and another order would be another recording.
  if (spans.some(isFlat) || spans.filter(isBesideItsTool).length > 1 || hasCopies(spans)) return false
  const random = createRandom(seed)
  const live = replay(
    spans,
    logs,
    anyOrderOf(spans, () => random.next()),
  )
  return inOrder(live) !== inOrder(buildRuns(spans, { logs }))
}

function isFlat(span: SourceSpan): boolean {
  return recognise(span.scope.name, span.attributes, span.name)?.isFlat?.(span) === true
}

function isBesideItsTool(span: SourceSpan): boolean {
  const dialect = recognise(span.scope.name, span.attributes, span.name)
  return dialect?.roleOf(span) === 'agent' && dialect.startsBesideItsTool?.(span) === true
}

function hasCopies(spans: readonly SourceSpan[]): boolean {
  return new Set(spans.map(({ spanId }) => spanId)).size < spans.length
}
