import { afterAll, describe, expect, it } from 'vitest'

import type { AgentRun } from '../src/model/agent-run.ts'
import { liveExceptions } from './corpus/live-exceptions.ts'
import type { LiveException } from './corpus/live-exceptions.ts'
import { libraryNames, loadLibrary } from './corpus/load.ts'
import { play } from './corpus/play.ts'
import type { Way } from './corpus/play.ts'

/** All ways that set the attributes at the start or at the end, and two that set those of the kind right after the start. */
const WAYS: readonly Way[] = [
  ...(['object', 'ids'] as const).flatMap((parents) =>
    (['recorded', 'none'] as const).flatMap((atStart) =>
      [false, true].map((strangers) => ({ parents, atStart, strangers })),
    ),
  ),
  { parents: 'object', atStart: 'kind', strangers: true },
  { parents: 'ids', atStart: 'kind', strangers: false },
]

const used = new Set<LiveException>()

describe.each(WAYS)(
  'Parents by $parents, attributes at the start: $atStart, other spans between: $strangers',
  (way) => {
    let played = 0
    let different = 0

    it.each(libraryNames())('%s: live runs are those of the file', async (library) => {
      const unexplained: string[] = []
      for (const scenario of loadLibrary(library)) {
        played += 1
        const { live, file } = await play(scenario, way)
        if (inOrder(live) === inOrder(file)) continue
        const exception = liveExceptions.find(
          (each) =>
            each.library.test(library) &&
            each.scenario.test(scenario.id) &&
            each.atStart?.includes(way.atStart) !== false,
        )
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

it('needs every exception that it lists', () => {
  expect(liveExceptions.filter((exception) => !used.has(exception))).toEqual([])
})

afterAll(() => {
  used.clear()
})

function inOrder(runs: readonly AgentRun[]): string {
  return JSON.stringify(runs.toSorted((a, b) => a.startTimeMs - b.startTimeMs || (a.id < b.id ? -1 : 1)).map(factsOf))
}

/** The content of a run, without what only the process or only the file can know. */
function factsOf(run: AgentRun): unknown {
  const json: Record<string, unknown> = JSON.parse(JSON.stringify(run))
  return {
    ...Object.fromEntries(Object.entries(json).filter(([key]) => key !== 'complete' && key !== 'revision')),
    children: run.children.map(factsOf),
  }
}
