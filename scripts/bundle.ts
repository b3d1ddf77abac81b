/**
 * Bundles the entries of the package beside the declarations that `tsc` has emitted. Loading the main entry as single
 * modules takes three times as long, and the application pays for that at every cold start
 * (`npm run bench`). What the main entry needs is one file: each more that Node has to find and resolve costs half a
 * millisecond, and with a dozen of them Node's own path functions are compiled anew, for 5 MB.
 */
import { chmodSync, globSync } from 'node:fs'
import { basename } from 'node:path'

import { rolldown } from 'rolldown'
import type { OutputOptions } from 'rolldown'

const entries = new Map(globSync('src/entries/*.ts').map((file) => [`entries/${basename(file, '.ts')}`, file]))
entries.set('cli/main', 'src/cli/main.ts')
/** This is loaded in browsers and at the edge, so it must not load the chunks that the others share, with their `node:` imports. */
const noop = 'entries/noop'

await write([noop], {})
await write(
  [...entries.keys()].filter((name) => name !== noop),
  { codeSplitting: { groups: [{ name: 'spanscore', test: /src\/entries\/main\.ts$/ }] } },
)
// `npx spanscore` in this folder, as the demo suggests, runs the file itself.
chmodSync('dist/cli/main.js', 0o755)

async function write(names: readonly string[], options: OutputOptions): Promise<void> {
  const bundle = await rolldown({
    input: Object.fromEntries(names.map((name) => [name, entries.get(name) ?? ''])),
    platform: 'node',
    // Packages are not bundled: an optional peer is loaded only if it is needed, from the packages of the application.
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
