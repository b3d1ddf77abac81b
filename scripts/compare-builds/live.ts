import { isDeepStrictEqual } from 'node:util'

import { libraryNames, loadLibrary } from '../../test/corpus/load.ts'
import { play } from '../../test/corpus/play.ts'
import type { Played } from '../../test/corpus/play.ts'
import { waysAt } from '../../test/corpus/ways.ts'
import type { Build } from './build.ts'
import type { Observation } from './observation.ts'

/** The recordings as a process sees them: all hooks at one moment, each in two ways. */
export async function* live(build: Build): AsyncGenerator<Observation> {
  for (const library of libraryNames()) {
    for (const [index, scenario] of loadLibrary(library).entries()) {
      for (const way of waysAt(index)) {
        const name = `${way.parents}, ${way.atStart}, ${way.strangers}`
        yield observe(`${library} ${scenario.id} (${name})`, await play(build, scenario, way))
      }
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
