import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

const repository = resolve(import.meta.dirname, '..')

/** The package as it would be published. */
export interface Tarball {
  readonly path: string
  readonly hash: string
}

/** Packs the project, which must have been built before, into the folder. */
export function packProject(folder: string): Tarball {
  mkdirSync(folder, { recursive: true })
  const printed = execFileSync('npm', ['pack', '--ignore-scripts', '--silent', '--pack-destination', folder], {
    cwd: repository,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const packed = join(folder, printed.trim())
  const hash = createHash('sha256').update(readFileSync(packed)).digest('hex').slice(0, 12)
  const path = join(folder, `spanscore-${hash}.tgz`)
  renameSync(packed, path)
  return { path, hash }
}

/**
 * Installs the manifest's packages into the folder, once for the same manifest. An incompatible peer is an error here, as
 * it is for users.
 */
export function installPackages(folder: string, manifest: object): void {
  const wanted = JSON.stringify(manifest, undefined, 2)
  const done = join(folder, '.installed')
  if (existsSync(done) && readFileSync(done, 'utf8') === wanted) return
  rmSync(done, { force: true })
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), wanted)
  execFileSync(
    'npm',
    ['install', '--no-audit', '--no-fund', '--no-package-lock', '--ignore-scripts', '--loglevel=error'],
    {
      cwd: folder,
      stdio: ['ignore', 'ignore', 'inherit'],
      // If an npm script started this process, npm would use the package of that script.
      env: Object.fromEntries(
        Object.entries(process.env).filter(([name]) => !/^npm_(package|lifecycle|command)/.test(name)),
      ),
    },
  )
  writeFileSync(done, wanted)
}

const known = new Map<string, string>()

/** The newest version of a package in a range, or of all. So a folder is installed anew once there is a newer one. */
export function newestVersion(id: string, range = 'latest'): string {
  const spec = `${id}@${range}`
  const version =
    known.get(spec) ?? lastOf(execFileSync('npm', ['view', spec, 'version', '--json'], { encoding: 'utf8' }))
  known.set(spec, version)
  return version
}

/** npm prints one version, or a list of those in a range, as they were published. */
function lastOf(printed: string): string {
  const versions: unknown = JSON.parse(printed)
  if (!Array.isArray(versions)) return String(versions)
  const released = versions.map(String).filter((version) => !version.includes('-'))
  return released.toSorted((a, b) => a.localeCompare(b, 'en', { numeric: true })).at(-1) ?? ''
}
