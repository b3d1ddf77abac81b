/** Builds the page into `server/dist/assets`: script, styles, and the licences of what is in them. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { gzipSync } from 'node:zlib'

import { build } from 'esbuild'

import { licencesOf } from '../../scripts/licences.ts'

/** Compressed, all files that a browser loads together. */
const MAX_BYTES = 90 * 1024

const here = import.meta.dirname
const to = join(here, '../dist/assets')

rmSync(to, { recursive: true, force: true })
mkdirSync(to, { recursive: true })
const { metafile, outputFiles } = await build({
  entryPoints: [join(here, 'src/main.tsx'), join(here, 'src/styles/page.css')],
  bundle: true,
  minify: true,
  format: 'esm',
  target: 'es2022',
  jsx: 'automatic',
  jsxImportSource: 'preact',
  entryNames: '[name]-[hash]',
  outbase: here,
  outdir: to,
  write: false,
  metafile: true,
  legalComments: 'none',
})

let loaded = 0
const put = (name: string, text: string | Uint8Array) => {
  const packed = gzipSync(text, { level: 9 })
  loaded += packed.byteLength
  writeFileSync(join(to, `${name}.gz`), packed)
}
const named = (extension: string) => outputFiles.find(({ path }) => path.endsWith(extension))
for (const { path, contents } of outputFiles) put(basename(path), contents)
const html = readFileSync(join(here, 'index.html'), 'utf8')
  .replace('{{script}}', basename(named('.js')?.path ?? ''))
  .replace('{{style}}', basename(named('.css')?.path ?? ''))
put('index.html', html)
put('icon.svg', readFileSync(join(here, 'icon.svg')))
if (loaded > MAX_BYTES) throw new Error(`The page weighs ${loaded} bytes compressed; expected ${MAX_BYTES} at most.`)

writeFileSync(join(to, 'third-party-licences.txt'), licencesOf(Object.keys(metafile.inputs)))
writeFileSync(join(to, 'example-run.json'), readFileSync(join(here, 'example-run.json')))
console.log(`The page weighs ${(loaded / 1024).toFixed(1)} KiB compressed.`)
