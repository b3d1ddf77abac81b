/**
 * Packs recordings of real libraries into one compressed file per library, as the corpus suite reads them.
 *
 *     node scripts/import-corpus.ts <folder of recordings> [<target folder>]
 *
 * A recording is `<scenario>.otlp.json` (an OTLP/JSON request, spans in end order), `<scenario>.expected.json`, and where
 * they exist `<scenario>.otlp-logs.json` and `<scenario>.order.json` (starts and ends as the hooks saw them).
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { brotliCompressSync, constants } from 'node:zlib'

const [source, target = 'test/corpus/recordings'] = process.argv.slice(2)
if (source === undefined) {
  console.error('expected: node scripts/import-corpus.ts <folder of recordings> [<target folder>]')
  process.exit(2)
}
mkdirSync(target, { recursive: true })
for (const entry of readdirSync(source, { withFileTypes: true })) {
  if (!entry.isDirectory()) continue
  const library = pack(join(source, entry.name))
  const text = Buffer.from(JSON.stringify(library))
  const packed = brotliCompressSync(text, {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: 11,
      [constants.BROTLI_PARAM_LGWIN]: 24,
      [constants.BROTLI_PARAM_SIZE_HINT]: text.length,
    },
  })
  writeFileSync(join(target, `${entry.name}.json.br`), packed)
  console.log(`${entry.name}: ${library.scenarios.length} scenarios, ${text.length} -> ${packed.length} bytes`)
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

/** `[span id, 's' | 'e', attribute keys that were there at the start]` for each start and end, in the order of the hooks. */
function toOrder(events: unknown): unknown {
  if (!Array.isArray(events)) return undefined
  return events
    .filter(isObject)
    .map((event) => (event.ev === 'start' ? [event.span, 's', event.attrs ?? []] : [event.span, 'e']))
}

function readJson(path: string): unknown {
  return JSON.parse(readFileSync(path, 'utf8'))
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
