import { cpSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'

import { installPackages, packProject } from '../install-packages.ts'
import type { Tarball } from '../install-packages.ts'
import { packagesOf } from './cells.ts'
import type { Cell, Node } from './cells.ts'

/** The folder is kept between runs: its entries are named by the versions that were requested. */
const cache = process.env['SPANSCORE_COMPAT_CACHE'] ?? join(homedir(), '.cache', 'spanscore-compat')

/** Packs the project, which must have been built before. */
export function pack(): Tarball {
  return packProject(join(cache, 'tarballs'))
}

/** The folder of the cell's application, with its packages, the packed project, and the files of the scenarios. */
export function installApplication(cell: Cell, tarball: Tarball): string {
  const folder = join(cache, `sdk-${cell.sdk}-ai-${cell.ai}`)
  const dependencies = { ...packagesOf(cell), spanscore: `file:${tarball.path}` }
  installPackages(folder, { name: 'compat', private: true, dependencies })
  cpSync(join(import.meta.dirname, 'app'), folder, { recursive: true })
  return folder
}

/** The `node` binary of this version, from the package that contains it. */
export function installNode(version: Node): string {
  const name = `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`
  const folder = join(cache, `node-${version}`)
  installPackages(folder, { name: 'compat-node', private: true, dependencies: { [name]: version } })
  return join(folder, 'node_modules', name, 'bin', 'node')
}
