/**
 * Bundles the entries of the package and their declarations: `bundle.ts package`; or the command line: `bundle.ts command-line`. Loading
 * the main entry as single modules takes three times as long, and the application pays for that at every cold start
 * (`npm run bench`). What the main entry needs is one file: each more that Node has to find and resolve costs half a
 * millisecond, and with a dozen of them Node's own path functions are compiled anew, for 5 MB.
 */
import { globSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'

import { rolldown } from 'rolldown'
import type { OutputOptions, Plugin } from 'rolldown'
import { dts } from 'rolldown-plugin-dts'

import { BUNDLED } from './bundled-packages.ts'
import { licencesOf } from './licences.ts'

/** With a single character beyond Latin-1, V8 holds the text of a whole file in two bytes a character. */
const ASCII: Plugin = {
  name: 'ascii',
  generateBundle(_, files) {
    for (const file of Object.values(files)) {
      if (file.type === 'chunk') file.code = file.code.replaceAll(/[\u0080-\uffff]/g, escaped)
    }
  },
}

function escaped(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
}

/** This is loaded in browsers and at the edge, so it must not load the chunks that the others share, with their `node:` imports. */
const NOOP = './src/entries/noop.ts'

if (process.argv[2] === 'command-line') {
  await write('cli/dist', ['./cli/src/main.ts', './cli/src/doctor-probe.ts'], { chunkFileNames: '[name]-[hash].js' })
} else {
  const others = globSync('src/entries/*.ts')
    .map((file) => `./${file}`)
    .filter((file) => file !== NOOP)
  const names = { entryFileNames: 'entries/[name].js', chunkFileNames: 'chunks/[name]-[hash].js' }
  await write('dist', [NOOP], names)
  await write('dist', others, {
    ...names,
    codeSplitting: {
      groups: [
        { name: 'spanscore', test: /src\/entries\/main\.ts$/, priority: 1 },
        { name: 'judging', test: /src\/judge\// },
      ],
    },
  })
  await write('dist', others, names, true)
}

async function write(
  folder: string,
  files: readonly string[],
  options: OutputOptions,
  declarations = false,
): Promise<void> {
  const bundle = await rolldown({
    input: Object.fromEntries(files.map((file) => [basename(file, '.ts'), file])),
    platform: 'node',
    checks: { pluginTimings: false },
    plugins: declarations ? dts({ emitDtsOnly: true }) : [ASCII],
    // Other packages are not bundled: an optional peer is loaded only if it is needed, from the packages of the application.
    external: (id) =>
      !id.startsWith('.') && !id.startsWith('/') && !BUNDLED.some((name) => id === name || id.startsWith(`${name}/`)),
  })
  const { output } = await bundle.write({
    dir: folder,
    format: 'esm',
    // The bundler of an application reads annotations such as `webpackIgnore`.
    comments: declarations || { legal: false, annotation: true, jsdoc: false },
    ...options,
  })
  if (!declarations) {
    const modules = output.flatMap((file) => (file.type === 'chunk' ? file.moduleIds : []))
    writeFileSync(join(folder, 'third-party-licences.txt'), licencesOf(modules))
  }
  await bundle.close()
}
