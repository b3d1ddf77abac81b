import { isDeepStrictEqual } from 'node:util'

import { afterAll, describe, expect, it } from 'vitest'

import { isExplained, liveExceptions } from './corpus/live-exceptions.ts'
import type { LiveException } from './corpus/live-exceptions.ts'
import { libraryNames, loadLibrary, readScenario } from './corpus/load.ts'
import type { Scenario } from './corpus/load.ts'
import { MovedClock } from './corpus/moved-clock.ts'
import { play } from './corpus/play.ts'
import type { Way } from './corpus/play.ts'
import { sources } from './corpus/product.ts'
import { WAYS, waysAt } from './corpus/ways.ts'

const CLOCKED: Way = { parents: 'object', atStart: 'recorded', strangers: false }

/** Without it, each recording is played in two of the ways. */
const isEveryWay = process.env['EVERY_WAY'] === '1'

const used = new Set<LiveException>()

describe.each(WAYS)(
  'Parents by $parents, attributes at the start: $atStart, other spans between: $strangers',
  (way) => {
    let played = 0
    let different = 0

    it.each(libraryNames())('%s: live runs are those of the file', async (library) => {
      const unexplained: string[] = []
      for (const [index, scenario] of loadLibrary(library).entries()) {
        if (!isEveryWay && !waysAt(index).includes(way)) continue
        played += 1
        const { live, file, otherwiseSurrounded } = await play(sources, scenario, way)
        if (otherwiseSurrounded.length > 0) unexplained.push(`${scenario.id}: its surroundings`)
        if (isDeepStrictEqual(live, file)) continue
        const exception = exceptionOf(scenario, way, live, file)
        if (exception === undefined) unexplained.push(scenario.id)
        else used.add(exception)
        if (exception?.isNeverLive !== true) different += 1
      }
      expect(unexplained).toEqual([])
    })

    it('differ in one recording of a hundred at most, of those that can be live', () => {
      expect(different / played).toBeLessThan(0.01)
    })
  },
)

describe('With the recorded times as the clock', () => {
  it.each(libraryNames())('%s: live runs are those of the file', async (library) => {
    const unexplained: string[] = []
    for (const scenario of loadLibrary(library)) {
      using clock = new MovedClock(Math.min(...readScenario(scenario).spans.map(({ startTimeMs }) => startTimeMs)))
      const { live, file } = await play(sources, scenario, CLOCKED, { clock, settleMs: 2000 })
      if (isDeepStrictEqual(live, file)) continue
      if (exceptionOf(scenario, CLOCKED, live, file) === undefined) unexplained.push(scenario.id)
    }
    expect(unexplained).toEqual([])
  })
})

it.runIf(isEveryWay)('needs every exception that it lists', () => {
  expect(liveExceptions.filter((exception) => !used.has(exception))).toEqual([])
})

afterAll(() => {
  used.clear()
})

function exceptionOf(
  { library, id }: Scenario,
  { atStart }: Way,
  live: readonly string[],
  file: readonly string[],
): LiveException | undefined {
  return liveExceptions.find(
    (each) =>
      each.library.test(library) &&
      each.scenario.test(id) &&
      each.atStart?.includes(atStart) !== false &&
      isExplained(each, live, file),
  )
}
