import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'

import { packagesOf } from './cells.ts'
import type { Cell, Node } from './cells.ts'

const repository = resolve(import.meta.dirname, '../..')

/** Kept between runs: what it holds is named by what was asked for. */
const cache = process.env['SPANSCORE_COMPAT_CACHE'] ?? join(homedir(), '.cache', 'spanscore-compat')

/** The package as it would be published. */
export interface Tarball {
  readonly path: string
  readonly hash: string
}

/** Packs the project, built before. */
export function pack(): Tarball {
  const folder = join(cache, 'tarballs')
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

/** The folder of the cell's application: its packages, the packed project among them, and the scenarios' files. */
export function installApplication(cell: Cell, tarball: Tarball): string {
  const folder = join(cache, `sdk-${cell.sdk}-ai-${cell.ai}`)
  const dependencies = { ...packagesOf(cell), spanscore: `file:${tarball.path}` }
  install(folder, { name: 'compat', private: true, dependencies })
  cpSync(join(import.meta.dirname, 'app'), folder, { recursive: true })
  return folder
}

/** The `node` of this version, out of the package that carries its binary. */
export function installNode(version: Node): string {
  const name = `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`
  const folder = join(cache, `node-${version}`)
  install(folder, { name: 'compat-node', private: true, dependencies: { [name]: version } })
  return join(folder, 'node_modules', name, 'bin', 'node')
}

/** Installs once; strictly, so that a peer that does not fit is an error here as it is for users. */
function install(folder: string, manifest: object): void {
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
      // Started by an npm script, npm would take the script's package for its own.
      env: Object.fromEntries(
        Object.entries(process.env).filter(([name]) => !/^npm_(package|lifecycle|command)/.test(name)),
      ),
    },
  )
  writeFileSync(done, wanted)
}
