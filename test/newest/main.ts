/**
 * The code of the documentation and the examples, on the newest published packages of all libraries that they name, as users install
 * them today: `npm run test:newest`, `-- ci openai-sdk` for those whose name has one of these. A library's newest may break what
 * worked before, so this belongs into the nightly run and into no pull request.
 */
import { spawnSync } from 'node:child_process'
import { cpSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { homedir } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'

import { installPackages, newestVersion, packProject } from '../install-packages.ts'

const repository = resolve(import.meta.dirname, '../..')
const cache = process.env['SPANSCORE_NEWEST_CACHE'] ?? join(homedir(), '.cache', 'spanscore-newest')
const tarball = packProject(join(cache, 'tarballs'))
const wanted = process.argv.slice(2)
const rows: { readonly what: string; readonly versions: string; readonly result: string }[] = []

for (const page of globSync(['README.md', 'docs/**/*.md'], {
  exclude: ['docs/reference/**'],
  cwd: repository,
}).toSorted()) {
  if (isWanted(page)) tryPage(page)
}
for (const manifest of globSync('examples/*/package.json', { cwd: repository }).toSorted()) {
  const folder = dirname(manifest)
  // Next.js has a server that is built first: `npm run test:live` runs it.
  if (isWanted(folder) && basename(folder) !== 'nextjs') tryExample(folder)
}
console.table(rows)
process.exitCode = rows.some(({ result }) => result !== 'ok') || rows.length === 0 ? 1 : 0

function isWanted(what: string): boolean {
  return wanted.length === 0 || wanted.some((each) => what.includes(each))
}

/** Compiles the TypeScript of a page, and runs its program of evaluations. */
function tryPage(page: string): void {
  const text = readFileSync(join(repository, page), 'utf8')
  const blocks = [...text.matchAll(/^```ts\n([\s\S]*?)^```/gm)].map(([, code = '']) => code)
  const names = packagesIn(blocks)
  if (blocks.length === 0) return
  attempt(page, names, (folder) => {
    for (const old of globSync('block-*.ts', { cwd: folder })) rmSync(join(folder, old))
    for (const [index, code] of blocks.entries())
      writeFileSync(join(folder, `block-${index}.ts`), `${code}\nexport {}\n`)
    const compilerOptions = {
      module: 'nodenext',
      target: 'es2024',
      strict: true,
      noEmit: true,
      skipLibCheck: true,
      types: ['node'],
    }
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['block-*.ts'] }))
    run(folder, [join(repository, 'node_modules/typescript/bin/tsc'), '-p', '.'])
    const program = blocks.findIndex((code) => code.startsWith('// evals/run.ts'))
    if (program !== -1) run(folder, [join(repository, 'examples/offline.mjs'), process.execPath, `block-${program}.ts`])
  })
}

/** Runs an example with the scripted model. */
function tryExample(folder: string): void {
  const manifest: { readonly dependencies: Readonly<Record<string, string>> } = JSON.parse(
    readFileSync(join(repository, folder, 'package.json'), 'utf8'),
  )
  const names = Object.keys(manifest.dependencies).filter((name) => name !== 'spanscore')
  attempt(folder, names, (installed) => {
    for (const file of globSync('*.mjs', { cwd: join(repository, folder) }))
      cpSync(join(repository, folder, file), join(installed, file))
    const printed = run(installed, [join(repository, 'examples/offline.mjs'), process.execPath, 'main.mjs'])
    if (!/ is (?:0|1)(?:\.\d+)?\b/.test(printed)) throw new Error(`Expected a score, got: ${printed.slice(-600)}`)
  })
}

/** Installs the newest packages into a folder of its own, and notes what comes out. */
function attempt(what: string, names: readonly string[], work: (folder: string) => void): void {
  const folder = join(cache, what.replaceAll(/\W+/g, '-'))
  let versions = ''
  let result = 'ok'
  try {
    const dependencies = Object.fromEntries(names.map((name) => [name, newestVersion(name)]))
    versions = Object.entries(dependencies)
      .map((pair) => pair.join(' '))
      .join(', ')
    installPackages(folder, {
      name: 'newest',
      private: true,
      type: 'module',
      dependencies: {
        '@opentelemetry/api': newestVersion('@opentelemetry/api'),
        ...dependencies,

        spanscore: `file:${tarball.path}`,
      },
      devDependencies: { '@types/node': newestVersion('@types/node') },
    })
    work(folder)
  } catch (error) {
    result = error instanceof Error ? error.message.slice(0, 400) : 'unknown error'
    console.error(`${what}: ${error instanceof Error ? error.message : String(error)}`)
  }
  rows.push({ what, versions: versions.slice(0, 120), result: result.slice(0, 100) })
}

function run(folder: string, args: readonly string[]): string {
  const quiet = { OTEL_TRACES_EXPORTER: 'console', OTEL_LOGS_EXPORTER: 'none', OTEL_METRICS_EXPORTER: 'none' }
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    cwd: folder,
    encoding: 'utf8',
    timeout: 120_000,
    env: { ...process.env, ...quiet },
  })
  if (status !== 0)
    throw new Error(`${basename(args[0] ?? '')} ended with ${status}: ${(stdout + stderr).slice(-1500)}`)
  return stdout + stderr
}

/** The packages that code imports, without those of Node.js and spanscore itself. */
function packagesIn(blocks: readonly string[]): string[] {
  const specifiers = blocks.flatMap((code) =>
    [...code.matchAll(/(?:from|import) '([^'.][^']*)'/g)].map(([, name = '']) => name),
  )
  const names = specifiers.map((name) =>
    name
      .split('/')
      .slice(0, name.startsWith('@') ? 2 : 1)
      .join('/'),
  )
  return [...new Set(names)].filter(
    (name) => name !== 'spanscore' && !name.startsWith('node:') && !builtinModules.includes(name),
  )
}
