import type { AgentRun } from '../../src/model/agent-run.ts'
import { libraryNames, loadLibrary } from '../../test/corpus/load.ts'
import { inOrder } from '../../test/corpus/play.ts'
import type { Build } from './build.ts'
import type { Observation } from './observation.ts'

/** The runs in a file of each recording, read as a file of OTLP. */
export async function* recordings({ readRuns }: Build): AsyncGenerator<Observation> {
  for (const library of libraryNames()) {
    for (const { id, traces, logs } of loadLibrary(library)) {
      const inputs = [traces, ...(logs === undefined ? [] : [logs])].map((request, index) => ({
        name: `${index}`,
        bytes: once(JSON.stringify(request)),
      }))
      const runs: AgentRun[] = []
      for await (const run of readRuns(inputs)) runs.push(run)
      yield { key: `${library} ${id}`, facts: { runs: inOrder(runs) }, counts: { runs: runs.length } }
    }
  }
}

async function* once(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text)
}
