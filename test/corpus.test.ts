import { afterAll, describe, expect, it } from 'vitest'
import { buildRuns } from '../src/runs/build-runs.ts'
import { compareScenario, type Difference } from './corpus/compare.ts'
import { exceptions, type Exception } from './corpus/exceptions.ts'
import { libraryNames, loadLibrary, readScenario, type Scenario } from './corpus/load.ts'

interface Tally {
  scenarios: number
  exact: number
  readonly differences: string[]
}

const tallies = new Map<string, Tally>()
const used = new Set<Exception>()

describe.each(libraryNames())('the recordings of %s', (library) => {
  const tally: Tally = { scenarios: 0, exact: 0, differences: [] }
  tallies.set(library, tally)

  it('give the runs that were played', () => {
    const unexplained: Record<string, readonly Difference[]> = {}
    for (const scenario of loadLibrary(library)) {
      const { spans, logs } = readScenario(scenario)
      const differences = compareScenario(scenario, buildRuns(spans, { logs }))
      tally.scenarios++
      if (differences.length === 0) tally.exact++
      const wrong = differences.filter((difference) => explain(scenario, difference, tally) === undefined)
      if (wrong.length > 0) unexplained[scenario.id] = wrong
    }
    expect(unexplained).toEqual({})
  })
})

it('needs every exception that it lists', () => {
  expect(exceptions.filter((exception) => !used.has(exception))).toEqual([])
})

afterAll(() => {
  const width = Math.max(...libraryNames().map((name) => name.length))
  const rows = [...tallies].flatMap(([library, tally]) => [
    `${library.padEnd(width)} ${String(tally.exact).padStart(3)} of ${String(tally.scenarios).padStart(3)} exact`,
    ...tally.differences.map((line) => `${' '.repeat(width)}   ${line}`),
  ])
  console.info(`\nRuns reconstructed from recorded spans\n${rows.join('\n')}\n`)
})

/** The exception that explains a difference; it is noted in the report. */
function explain(scenario: Scenario, difference: Difference, tally: Tally): Exception | undefined {
  const exception = exceptions.find(
    (candidate) =>
      candidate.library?.test(scenario.library) !== false &&
      candidate.scenario.test(scenario.id) &&
      candidate.path.test(difference.path),
  )
  if (exception !== undefined) {
    used.add(exception)
    tally.differences.push(`${scenario.id} ${difference.path}: ${exception.why}`)
  }
  return exception
}
