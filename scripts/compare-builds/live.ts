import { isDeepStrictEqual } from 'node:util'

import { libraryNames, loadLibrary, readScenario } from '../../test/corpus/load.ts'
import { MovedClock } from '../../test/corpus/moved-clock.ts'
import { play } from '../../test/corpus/play.ts'
import type { Played, Way } from '../../test/corpus/play.ts'
import { WAYS } from '../../test/corpus/ways.ts'
import { runProgram } from '../../test/live-programs/program.ts'
import { randomProgram } from '../../test/live-programs/random-program.ts'
import { TRAITS } from '../../test/live-programs/traits.ts'
import { createRandom } from '../../test/fuzz/random.ts'
import type { Build } from './build.ts'
import type { Observation } from './observation.ts'

const SEEDS = 300

/** The recordings as a process sees them: all hooks at one moment, in ways that together have all pairs of settings. */
export async function* live(build: Build): AsyncGenerator<Observation> {
  for (const way of WAYS) yield* played(build, way, `${way.parents}, ${way.atStart}, ${way.strangers}`, false)
}

/** The recordings as a process sees them, with the recorded times as its clock. */
export async function* clocked(build: Build): AsyncGenerator<Observation> {
  yield* played(build, { parents: 'object', atStart: 'recorded', strangers: false }, 'clock', true)
}

/** Random programs with a real tracer provider. */
export async function* programs(build: Build): AsyncGenerator<Observation> {
  for (const [name, traits] of Object.entries(TRAITS)) {
    for (let seed = 1; seed <= SEEDS; seed += 1) {
      yield observe(`${name}, ${seed}`, await runProgram(build, randomProgram(createRandom(seed), traits)))
    }
  }
}

async function* played(build: Build, way: Way, name: string, isClocked: boolean): AsyncGenerator<Observation> {
  for (const library of libraryNames()) {
    for (const scenario of loadLibrary(library)) {
      const beginMs = Math.min(...readScenario(scenario).spans.map(({ startTimeMs }) => startTimeMs))
      using clock = isClocked ? new MovedClock(beginMs) : undefined
      const options = clock === undefined ? {} : { clock, settleMs: 2000 }
      yield observe(`${library} ${scenario.id} (${name})`, await play(build, scenario, way, options))
    }
  }
}

function observe(key: string, { seen, live: runs, file, ledger }: Played): Observation {
  const isFile = isDeepStrictEqual(runs, file)
  const first = new Map(seen.toReversed().map((run) => [run.id, run]))
  const last = new Map(seen.map((run) => [run.id, run]))
  const revised = [...first].filter(([id, { facts }]) => last.get(id)?.facts !== facts)
  const count = (when: string) => [...first.values()].filter((run) => run.when === when).length
  return {
    key,
    facts: {
      runs: isFile ? 'as in the file' : runs,
      // A shutdown lays out everything again, and hides what was wrong before.
      'runs that were first given otherwise': revised.map(([id]) => id),
      ledger: ledger.runs,
    },
    counts: {
      runs: last.size,
      'cases that differ from the file': isFile ? 0 : 1,
      'runs that were first given otherwise': revised.length,
      'times that a run was given': seen.length,
      'first in their own end': count('own end'),
      'first in another hook': count('other hook'),
      'first between hooks': count('later'),
      'first in the shutdown': count('shutdown'),
    },
  }
}
