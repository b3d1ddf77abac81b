/**
 * Bundles the entries of the package beside the declarations that `tsc` has emitted. Loading the main entry as the hundred and
 * eighty modules that it is made of takes three times as long, and the application pays for that at every cold start
 * (`npm run bench`). What the main entry needs is one file: each more that Node has to find and resolve costs half a
 * millisecond, and with a dozen of them Node's own path functions are compiled anew, for 5 MB.
 */
import { globSync, rmSync } from 'node:fs'
import { basename } from 'node:path'

import { rolldown } from 'rolldown'
import type { OutputOptions } from 'rolldown'

const entries = new Map(globSync('src/entries/*.ts').map((file) => [`entries/${basename(file, '.ts')}`, file]))
entries.set('cli/main', 'src/cli/main.ts')
/** Loaded in browsers and at the edge, where what the others share, with its `node:` imports, must not come along. */
const noop = 'entries/noop'

for (const stale of globSync('dist/**/*.js{,.map}')) rmSync(stale)
await write([noop], {})
await write(
  [...entries.keys()].filter((name) => name !== noop),
  { codeSplitting: { groups: [{ name: 'spanscore', test: /src\/entries\/main\.ts$/ }] } },
)

async function write(names: readonly string[], options: OutputOptions): Promise<void> {
  const bundle = await rolldown({
    input: Object.fromEntries(names.map((name) => [name, entries.get(name) ?? ''])),
    platform: 'node',
    // Packages stay packages: what is an optional peer is loaded where it is needed, and from where the application has it.
    external: (id) => !id.startsWith('.') && !id.startsWith('/'),
  })
  await bundle.write({
    dir: 'dist',
    format: 'esm',
    sourcemap: true,
    entryFileNames: '[name].js',
    chunkFileNames: 'chunks/[name]-[hash].js',
    ...options,
  })
  await bundle.close()
}
