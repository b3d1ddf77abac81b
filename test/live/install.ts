import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'

import { installPackages, packProject } from '../install-packages.ts'
import type { Library } from './libraries.ts'

/** This is kept between runs, with a folder for each set of packages, named by its hash. */
export const cache = process.env['SPANSCORE_LIVE_CACHE'] ?? join(homedir(), '.cache', 'spanscore-live')

/** Installs the packages of a library, once for the same packages; gives the folder. */
export function installLibrary({ program, packages }: Library): string {
  const hash = createHash('sha256').update(JSON.stringify(packages)).digest('hex').slice(0, 12)
  const folder = join(cache, `${program}-${hash}`)
  installPackages(folder, { name: 'live', private: true, type: 'module', dependencies: packages })
  return folder
}

/** The application of one test run in that folder: the programs, and the project as it would be published. */
export interface Application extends Disposable {
  readonly folder: string
}

/** Copies the programs and the packed project below an installed folder; they are removed at the end. */
export function createApplication(installed: string, tarball: string): Application {
  const runs = join(installed, 'runs')
  mkdirSync(runs, { recursive: true })
  const folder = mkdtempSync(join(runs, 'run-'))
  cpSync(join(import.meta.dirname, 'app'), folder, { recursive: true })
  const project = join(folder, 'node_modules', 'spanscore')
  mkdirSync(project, { recursive: true })
  execFileSync('tar', ['-xzf', tarball, '-C', project, '--strip-components=1'])
  return { folder, [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }) }
}

/** Packs the project; gives the path of the archive. */
export function packForApplications(): string {
  return packProject(join(cache, 'tarballs')).path
}
