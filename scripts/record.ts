/**
 * Records real libraries for the corpus suite: plays the scenarios of `test/live` without spanscore, and writes the exported
 * spans, the order of the SDK's hooks, and what the program did.
 *
 *     npm run build && node scripts/record.ts <library> [--name <recording>] [--scenario <name>] [--to test/corpus/recordings]
 *
 * The library is named as in `test/live/libraries.ts`; if it is not known, the names are listed. To record a library that
 * is not there, write its program in `test/live/app` and its entry in that list: then `npm run test:live` plays it too.
 */
import { parseArgs } from 'node:util'

import { createApplication, installLibrary, packForApplications } from '../test/live/install.ts'
import { LIBRARIES } from '../test/live/libraries.ts'
import type { Library } from '../test/live/libraries.ts'
import { runLibrary } from '../test/live/run-library.ts'
import type { Outcome } from '../test/live/run-library.ts'
import { expectedRun } from '../test/live/script.ts'
import { toOrder, writeRecording } from './write-recording.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    name: { type: 'string' },
    scenario: { type: 'string', default: '' },
    to: { type: 'string', default: 'test/corpus/recordings' },
  },
})
const library = LIBRARIES.find(({ name }) => name === positionals[0])
if (library === undefined) fail(`expected one of: ${LIBRARIES.map(({ name }) => `\n  ${name}`).join('')}`)
const installed = installLibrary(library)
using application = createApplication(installed, packForApplications())
const outcomes = await runLibrary(library, application, { only: values.scenario, record: true })
const broken = outcomes.find(({ threw }) => threw !== undefined)
if (broken !== undefined) fail(`${broken.scenario.name}: ${broken.threw}`)
const recordingName = values.name ?? `live-${library.name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')}`
// Stack traces contain paths of this machine, which are useless elsewhere.
const scenarios: unknown[] = JSON.parse(
  JSON.stringify(outcomes.map((outcome) => toScenario(library, outcome)))
    .replaceAll(application.folder, '/app')
    .replaceAll(installed, '/app'),
)
const { plain, packed } = writeRecording(values.to, { name: recordingName, scenarios })
console.log(`${recordingName}: ${scenarios.length} scenarios, ${plain} -> ${packed} bytes in ${values.to}`)

function toScenario(recorded: Library, { scenario, exported, hooks }: Outcome): unknown {
  return {
    id: scenario.name.replaceAll(' ', '-'),
    expected: { library: recorded.name, runs: scenario.runs.map((run) => expectedRun(run, recorded)) },
    traces: { resourceSpans: exported.traces.flatMap((request) => partsOf(request, 'resourceSpans')) },
    ...(exported.logs.length > 0 && {
      logs: { resourceLogs: exported.logs.flatMap((request) => partsOf(request, 'resourceLogs')) },
    }),
    order: toOrder(hooks),
    missing: recorded.notRecorded,
  }
}

function partsOf(request: unknown, key: 'resourceSpans' | 'resourceLogs'): readonly unknown[] {
  const parts: unknown = Object.entries(request ?? {}).find(([name]) => name === key)?.[1]
  return Array.isArray(parts) ? parts : []
}

function fail(message: string): never {
  console.error(message)
  process.exit(2)
}
