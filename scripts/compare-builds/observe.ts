/** Observes one build: `node observe.ts <folder> <section> <file>` writes one line of JSON for each case. */
import { createWriteStream } from 'node:fs'
import { finished } from 'node:stream/promises'

import { diag } from '@opentelemetry/api'

import { loadBuild } from './build.ts'
import { live } from './live.ts'
import { recordings } from './recordings.ts'
import { scores } from './scores.ts'

const SECTIONS = { recordings, live, scores }

const [, , folder = '', section = '', file = ''] = process.argv
diag.setLogger({ error() {}, warn() {}, info() {}, debug() {}, verbose() {} })
const observe = new Map(Object.entries(SECTIONS)).get(section)
if (observe === undefined) throw new RangeError(`Expected one of ${Object.keys(SECTIONS).join(', ')}, got ${section}.`)
const lines = createWriteStream(file)
for await (const observation of observe(await loadBuild(folder))) {
  // Readline ends lines at these two characters, too.
  lines.write(`${JSON.stringify(observation).replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029')}\n`)
}
lines.end()
await finished(lines)
// A build may leave something behind that keeps the process alive.
process.exit()
