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
