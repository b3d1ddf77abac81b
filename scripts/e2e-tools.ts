/**
 * Finds the real programs of the end-to-end tests on PATH or in the cache, or else builds them from their Go modules, or copies them out
 * of their images if there is a Docker engine. `node scripts/e2e-tools.ts` gets them; with `--cached` it only looks.
 * Exits with 3, and prints what is missing, if a program is not available.
 */
import { execFile, execFileSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { basename, delimiter, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'

/** Where the programs are kept: `SPANSCORE_E2E_CACHE`, else `~/.cache/spanscore-e2e`. */
export const cacheDirectory = process.env['SPANSCORE_E2E_CACHE'] ?? join(homedir(), '.cache', 'spanscore-e2e')

const programNames = [
  'otelcol',
  'jaeger',
  'prometheus',
  'promtool',
  'alertmanager',
  'amtool',
  'actionlint',
  'oauth2-proxy',
] as const

/** Names of the programs. */
export type ProgramName = (typeof programNames)[number]

interface Program {
  readonly version: string
  /** Its command on the PATH, and whether the output of `--version` is acceptable. */
  readonly onPath: { readonly command: string; readonly accepts: RegExp }
  readonly image: { readonly name: string; readonly file: string }
  /** Builds it in a separate directory. @returns the built file */
  readonly build: (directory: string, version: string) => Promise<string>
}

const run = promisify(execFile)
const manifest = resolve(import.meta.dirname, '../test/e2e/tools/ocb.yaml')

async function go(directory: string, ...args: string[]): Promise<string> {
  const { stdout } = await run('go', args, {
    cwd: directory,
    env: { ...process.env, CGO_ENABLED: '0', GOTOOLCHAIN: 'local', GOBIN: directory },
    maxBuffer: 64 * 1024 * 1024,
  })
  return stdout
}

const goInstall = (path: string) => async (directory: string, version: string) => {
  await go(directory, 'install', `${path}@${version}`)
  // A program is named after its module without the module's version.
  return join(directory, basename(path.replace(/\/v\d+$/, '')))
}

/** The Collector, with the components of the manifest. */
async function buildCollector(directory: string, version: string): Promise<string> {
  await go(directory, 'install', `go.opentelemetry.io/collector/cmd/builder@${version}`)
  // It writes sources and go.mod, and then tidies, which fetches every test dependency of every component and fails if
  // one is not available. None of them is compiled.
  await run(join(directory, 'builder'), ['--config', manifest, '--skip-compilation'], {
    cwd: directory,
    env: { ...process.env, CGO_ENABLED: '0', GOTOOLCHAIN: 'local' },
  }).catch(() => undefined)
  const sources = join(directory, 'otelcol-build')
  await go(
    sources,
    'build',
    '-mod=mod',
    '-trimpath',
    '-ldflags',
    '-s -w',
    '-tags',
    'grpcnotrace',
    '-o',
    '../otelcol',
    '.',
  )
  return join(directory, 'otelcol')
}

/**
 * A program whose module has `replace` lines, which `go install` refuses: built from a module of ours that has the same
 * requirements, replacements and checksums as its own.
 */
const buildAsItself = (module: string, path: string, tags: string) => async (directory: string, version: string) => {
  writeFileSync(join(directory, 'go.mod'), 'module spanscore.local/download\n')
  const { Dir }: { Dir: string } = JSON.parse(await go(directory, 'mod', 'download', '-json', `${module}@${version}`))
  const goMod = readFileSync(join(Dir, 'go.mod'), 'utf8').replace(/^module .*/m, 'module spanscore.local/build')
  writeFileSync(join(directory, 'go.mod'), goMod)
  writeFileSync(join(directory, 'go.sum'), readFileSync(join(Dir, 'go.sum')))
  await go(directory, 'get', `${module}@${version}`)
  await go(directory, 'build', '-mod=mod', '-trimpath', '-ldflags', '-s -w', '-tags', tags, '-o', 'built', path)
  return join(directory, 'built')
}

const prometheusModule = 'github.com/prometheus/prometheus'
const alertmanagerModule = 'github.com/prometheus/alertmanager'

const programs: Readonly<Record<ProgramName, Program>> = {
  otelcol: {
    version: 'v0.158.0',
    onPath: { command: 'otelcol-contrib', accepts: /version 0\.1[5-9]\d\./ },
    image: { name: 'otel/opentelemetry-collector-contrib:0.158.0', file: '/otelcol-contrib' },
    build: buildCollector,
  },
  // Jaeger 2.13.0: the last one of which the Go modules hold a version number, that of its old line.
  jaeger: {
    version: 'v1.76.0',
    onPath: { command: 'jaeger', accepts: /"gitVersion":"v2\./ },
    image: { name: 'jaegertracing/jaeger:2.13.0', file: '/cmd/jaeger/jaeger-linux' },
    build: buildAsItself('github.com/jaegertracing/jaeger', 'github.com/jaegertracing/jaeger/cmd/jaeger', ''),
  },
  // Prometheus 3.14.0.
  prometheus: {
    version: 'v0.314.0',
    onPath: { command: 'prometheus', accepts: /version 3\.(9|[1-9]\d)\./ },
    image: { name: 'prom/prometheus:v3.14.0', file: '/bin/prometheus' },
    build: buildAsItself(prometheusModule, `${prometheusModule}/cmd/prometheus`, 'remove_all_sd'),
  },
  promtool: {
    version: 'v0.314.0',
    onPath: { command: 'promtool', accepts: /version 3\./ },
    image: { name: 'prom/prometheus:v3.14.0', file: '/bin/promtool' },
    build: buildAsItself(prometheusModule, `${prometheusModule}/cmd/promtool`, 'remove_all_sd'),
  },
  alertmanager: {
    version: 'v0.31.1',
    onPath: { command: 'alertmanager', accepts: /version 0\.(2[6-9]|[3-9]\d)\./ },
    image: { name: 'prom/alertmanager:v0.31.1', file: '/bin/alertmanager' },
    build: goInstall(`${alertmanagerModule}/cmd/alertmanager`),
  },
  amtool: {
    version: 'v0.31.1',
    onPath: { command: 'amtool', accepts: /version 0\.(2[6-9]|[3-9]\d)\./ },
    image: { name: 'prom/alertmanager:v0.31.1', file: '/bin/amtool' },
    build: goInstall(`${alertmanagerModule}/cmd/amtool`),
  },
  // Checks the workflow that docs/ci.md shows.
  actionlint: {
    version: 'v1.7.12',
    onPath: { command: 'actionlint', accepts: /^v?1\.7\./ },
    image: { name: 'rhysd/actionlint:1.7.12', file: '/usr/local/bin/actionlint' },
    build: goInstall('github.com/rhysd/actionlint/cmd/actionlint'),
  },
  // Signs people in before the page.
  'oauth2-proxy': {
    version: 'v7.15.6',
    onPath: { command: 'oauth2-proxy', accepts: /^oauth2-proxy v?7\./ },
    image: { name: 'quay.io/oauth2-proxy/oauth2-proxy:v7.15.6', file: '/bin/oauth2-proxy' },
    build: goInstall('github.com/oauth2-proxy/oauth2-proxy/v7'),
  },
}

function cached(name: ProgramName): string {
  return join(cacheDirectory, 'bin', `${name}-${programs[name].version}`)
}

/** The program's file, if it is on the PATH in an accepted version, or in the cache. */
export function findProgram(name: ProgramName): string | undefined {
  const { command, accepts } = programs[name].onPath
  const onPath = (process.env['PATH'] ?? '')
    .split(delimiter)
    .map((directory) => join(directory, command))
    .find((file) => existsSync(file))
  if (onPath) {
    const said = [['--version'], ['version']].some((args) => {
      try {
        return accepts.test(execFileSync(onPath, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }))
      } catch {
        return false
      }
    })
    if (said) return onPath
  }
  return existsSync(cached(name)) ? cached(name) : undefined
}

function answers(command: string, ...args: string[]): boolean {
  try {
    execFileSync(command, args, { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

async function buildWithGo(name: ProgramName): Promise<void> {
  const { version, build } = programs[name]
  console.log(`${name}: building ${version} (some minutes, once)`)
  const directory = join(cacheDirectory, 'build', name)
  rmSync(directory, { recursive: true, force: true })
  mkdirSync(directory, { recursive: true })
  copyFileSync(await build(directory, version), cached(name))
  rmSync(directory, { recursive: true, force: true })
}

async function copyFromImage(name: ProgramName): Promise<void> {
  const { image } = programs[name]
  console.log(`${name}: from the image ${image.name}`)
  const { stdout } = await run('docker', ['create', image.name])
  await run('docker', ['cp', '-L', `${stdout.trim()}:${image.file}`, cached(name)])
  await run('docker', ['rm', stdout.trim()])
}

async function get(name: ProgramName): Promise<void> {
  mkdirSync(join(cacheDirectory, 'bin'), { recursive: true })
  const hasDocker = answers('docker', 'info')
  if (answers('go', 'version')) {
    try {
      return await buildWithGo(name)
    } catch (error) {
      if (!hasDocker) throw error
    }
  }
  if (!hasDocker) throw new Error('neither Go nor a Docker engine is here')
  await copyFromImage(name)
}

/** Gets missing programs. @returns the names of the programs that are not available, each with the reason */
async function getAll(onlyLook: boolean): Promise<string[]> {
  const missing: string[] = []
  for (const name of programNames) {
    if (findProgram(name)) continue
    if (onlyLook) {
      missing.push(`${name}: not on the PATH and not in ${cacheDirectory}`)
      continue
    }
    try {
      await get(name)
    } catch (error) {
      missing.push(`${name}: ${error instanceof Error ? error.message : String(error)}`)
    }
  }
  return missing
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const onlyLook = process.argv.includes('--cached')
  const missing = await getAll(onlyLook)
  if (missing.length > 0) {
    console.error(`The end-to-end tests need programs that are not here:\n  ${missing.join('\n  ')}`)
    console.error(
      onlyLook
        ? 'node scripts/e2e-tools.ts builds them (Go 1.26 or later), or copies them out of their images (a Docker engine).'
        : 'Install Go 1.26 or later, or start a Docker engine, or put the programs on the PATH.',
    )
    process.exit(3)
  }
  for (const name of programNames) console.log(`${name}: ${findProgram(name)}`)
}
