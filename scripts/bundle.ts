/**
 * Bundles the entries of the package beside the declarations that `tsc` has emitted: `bundle.ts package`; or the command line:
 * `bundle.ts command-line`. Loading the main entry as
 * single modules takes three times as long, and the application pays for that at every cold start
 * (`npm run bench`). What the main entry needs is one file: each more that Node has to find and resolve costs half a
 * millisecond, and with a dozen of them Node's own path functions are compiled anew, for 5 MB.
 */
import { globSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'

import { rolldown } from 'rolldown'
import type { OutputOptions } from 'rolldown'

import { BUNDLED } from './bundled-packages.ts'
import { licencesOf } from './licences.ts'

/** This is loaded in browsers and at the edge, so it must not load the chunks that the others share, with their `node:` imports. */
const NOOP = 'src/entries/noop.ts'

if (process.argv[2] === 'command-line') {
  await write('cli/dist', ['cli/src/main.ts', 'cli/src/doctor-probe.ts'], { chunkFileNames: '[name]-[hash].js' })
} else {
  const others = globSync('src/entries/*.ts').filter((entry) => entry !== NOOP)
  await write('dist', [NOOP], { entryFileNames: 'entries/[name].js' })
  await write('dist', others, {
    entryFileNames: 'entries/[name].js',
    chunkFileNames: 'chunks/[name]-[hash].js',
    codeSplitting: { groups: [{ name: 'spanscore', test: /src\/entries\/main\.ts$/ }] },
  })
}

async function write(folder: string, files: readonly string[], options: OutputOptions): Promise<void> {
  const bundle = await rolldown({
    input: Object.fromEntries(files.map((file) => [basename(file, '.ts'), file])),
    platform: 'node',
    // Other packages are not bundled: an optional peer is loaded only if it is needed, from the packages of the application.
    external: (id) =>
      !id.startsWith('.') && !id.startsWith('/') && !BUNDLED.some((name) => id === name || id.startsWith(`${name}/`)),
  })
  const { output } = await bundle.write({ dir: folder, format: 'esm', ...options })
  const modules = output.flatMap((file) => (file.type === 'chunk' ? file.moduleIds : []))
  writeFileSync(join(folder, 'third-party-licences.txt'), licencesOf(modules))
  await bundle.close()
}
