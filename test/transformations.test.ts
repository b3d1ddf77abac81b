import { afterAll, describe, expect, it } from 'vitest'

import { libraryNames, loadLibrary } from './corpus/load.ts'
import { hookOrders } from './transformations/hook-orders.ts'
import { inTransit } from './transformations/in-transit.ts'
import { lostScopes } from './transformations/lost-scopes.ts'
import { stripped } from './transformations/stripped.ts'
import type { TransformationException } from './transformations/transformation.ts'
import { twiceInATrace } from './transformations/twice-in-a-trace.ts'

const TRANSFORMATIONS = [hookOrders, lostScopes, twiceInATrace, stripped, ...inTransit]

const used = new Set<TransformationException>()

describe.each(libraryNames())('The runs of %s are right', (library) => {
  it.each(TRANSFORMATIONS)('$name', ({ exceptions, check }) => {
    const wrong: Record<string, unknown> = {}
    for (const scenario of loadLibrary(library)) {
      const found = check(scenario)
      if (found === undefined) continue
      const known = exceptions.find((each) => each.library.test(library) && each.scenario.test(scenario.id))
      if (known === undefined) wrong[scenario.id] = found
      else used.add(known)
    }
    expect(wrong).toEqual({})
  })
})

it.each(TRANSFORMATIONS)('Every exception is needed of runs $name', ({ exceptions }) => {
  expect(exceptions.filter((exception) => !used.has(exception))).toEqual([])
})

afterAll(() => used.clear())
