import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync, constants } from 'node:zlib'

/** The recordings of one library, as the corpus suite reads them. */
export interface Recording {
  readonly name: string
  readonly scenarios: readonly unknown[]
}

/** Writes `<name>.json.br` into the folder; gives the sizes in bytes, before and after compression. */
export function writeRecording(
  folder: string,
  recording: Recording,
): { readonly plain: number; readonly packed: number } {
  mkdirSync(folder, { recursive: true })
  const text = Buffer.from(JSON.stringify(recording))
  const packed = brotliCompressSync(text, {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: 11,
      [constants.BROTLI_PARAM_LGWIN]: 24,
      [constants.BROTLI_PARAM_SIZE_HINT]: text.length,
    },
  })
  writeFileSync(join(folder, `${recording.name}.json.br`), packed)
  return { plain: text.length, packed: packed.length }
}

/** `[span id, 's' | 'e', attribute keys that were there at the start]` for each start and end, in the order of the hooks. */
export function toOrder(events: unknown): unknown {
  if (!Array.isArray(events)) return undefined
  return events
    .filter(isObject)
    .map((event) => (event['ev'] === 'start' ? [event['span'], 's', event['attrs'] ?? []] : [event['span'], 'e']))
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
