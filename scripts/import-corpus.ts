/**
 * Packs recordings of real libraries into one compressed file per library, as the corpus suite reads them.
 *
 *     node scripts/import-corpus.ts <folder of recordings> [<target folder>]
 *
 * A recording is `<scenario>.otlp.json` (an OTLP/JSON request, spans in end order), `<scenario>.expected.json`, and where
 * they exist, `<scenario>.otlp-logs.json` and `<scenario>.order.json` (starts and ends as the hooks saw them).
 */
import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'

import { toOrder, writeRecording } from './write-recording.ts'

const [source, target = 'test/corpus/recordings'] = process.argv.slice(2)
if (source === undefined) {
  console.error('expected: node scripts/import-corpus.ts <folder of recordings> [<target folder>]')
  process.exit(2)
}
for (const entry of readdirSync(source, { withFileTypes: true })) {
  if (!entry.isDirectory()) continue
  const library = pack(join(source, entry.name))
  const { plain, packed } = writeRecording(target, library)
  console.log(`${entry.name}: ${library.scenarios.length} scenarios, ${plain} -> ${packed} bytes`)
}

function pack(folder: string): { name: string; scenarios: unknown[] } {
  const files = readdirSync(folder).toSorted()
  const missing = files.includes('MISSING.json') ? readJson(join(folder, 'MISSING.json')) : {}
  const scenarios = files
    .filter((file) => file.endsWith('.otlp.json'))
    .map((file) => {
      const id = file.slice(0, -'.otlp.json'.length)
      const read = (suffix: string): unknown => {
        const name = `${id}.${suffix}.json`
        return files.includes(name) ? readJson(join(folder, name)) : undefined
      }
      return {
        id,
        expected: read('expected'),
        traces: read('otlp'),
        logs: read('otlp-logs'),
        order: toOrder(read('order')),
        missing: isObject(missing) ? missing[id] : undefined,
      }
    })
  return { name: basename(folder), scenarios }
}

function readJson(path: string): unknown {
  return JSON.parse(readFileSync(path, 'utf8'))
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
