/**
 * Bundles the entries of the package beside the declarations that `tsc` has emitted. Loading the main entry as the hundred and
 * eighty modules that it is made of takes three times as long, and the application pays for that at every cold start
 * (`npm run bench`).
 */
import { globSync, rmSync } from 'node:fs'
import { basename } from 'node:path'

import { rolldown } from 'rolldown'

const entries = globSync('src/entries/*.ts').map((file) => [`entries/${basename(file, '.ts')}`, file])

const bundle = await rolldown({
  input: { ...Object.fromEntries(entries), 'cli/main': 'src/cli/main.ts' },
  platform: 'node',
  // Packages stay packages: what is an optional peer is loaded where it is needed, and from where the application has it.
  external: (id) => !id.startsWith('.') && !id.startsWith('/'),
})
for (const stale of globSync('dist/**/*.js{,.map}')) rmSync(stale)
await bundle.write({
  dir: 'dist',
  format: 'esm',
  sourcemap: true,
  entryFileNames: '[name].js',
  chunkFileNames: 'chunks/[name]-[hash].js',
})
await bundle.close()
