import { cpSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'

import { installPackages, newestVersion, packProject } from '../install-packages.ts'
import type { Tarball } from '../install-packages.ts'
import { packagesOf } from './cells.ts'
import type { Cell, Node } from './cells.ts'
import type { Distribution } from './distributions.ts'

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

const AI_7 = ['ai@7', '@ai-sdk/openai@4', '@ai-sdk/otel@1', 'zod@4']
/** Another library of agents, with the instrumentation that traces it. */
const AGENTS = [
  '@openai/agents',
  '@arizeai/openinference-instrumentation-openai-agents',
  'openai',
  'zod@4',
  '@opentelemetry/api@1.9.1',
]

/** The folder of an application with the newest versions of a distribution's packages, and these versions. */
export function installDistribution({ name, packages }: Distribution, tarball: Tarball): InstalledNewest {
  const installed = installNewest(`distribution-${name.replaceAll(/\W+/g, '-')}`, [...packages, ...AI_7], tarball)
  cpSync(join(import.meta.dirname, 'app'), installed.folder, { recursive: true })
  return installed
}

/** The folder of the other library of agents. It is apart, because its packages and those of distributions ask for different peers. */
export function installAgents(): string {
  return installNewest('agents', AGENTS).folder
}

interface InstalledNewest {
  readonly folder: string
  /** Such as `newrelic 14.5.1`: the packages that a row names, without those of OpenTelemetry and the AI SDK. */
  readonly versions: string
}

function installNewest(name: string, packages: readonly string[], tarball?: Tarball): InstalledNewest {
  const dependencies = packages.map((each): [string, string] => {
    const at = each.lastIndexOf('@')
    const [id, range] = at > 0 ? [each.slice(0, at), each.slice(at + 1)] : [each, 'latest']
    return [id, newestVersion(id, range)]
  })
  const folder = join(cache, name)
  const own = tarball === undefined ? {} : { spanscore: `file:${tarball.path}` }
  installPackages(folder, {
    name: 'compat',
    private: true,
    dependencies: { ...Object.fromEntries(dependencies), ...own },
  })
  const [vendor = ['', '']] = dependencies
  return { folder, versions: vendor.join(' ') }
}

/** The `node` binary of this version, from the package that contains it. */
export function installNode(version: Node): string {
  const name = `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`
  const folder = join(cache, `node-${version}`)
  installPackages(folder, { name: 'compat-node', private: true, dependencies: { [name]: version } })
  return join(folder, 'node_modules', name, 'bin', 'node')
}
