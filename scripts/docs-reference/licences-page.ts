import { readFileSync } from 'node:fs'

import { BUNDLED } from '../bundled-packages.ts'
import { code, page, table } from './markdown.ts'

interface LockedPackage {
  readonly version?: string
  readonly license?: string
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>
}

/** `docs/reference/licences.md`: the packages in each of ours, and under which licences they are. */
export function licencesPage(): string {
  const lock: { readonly packages: Readonly<Record<string, LockedPackage>> } = JSON.parse(
    readFileSync('package-lock.json', 'utf8'),
  )
  const bundled = BUNDLED.map((name) => ({ ...lock.packages[`node_modules/${name}`], name }))
  return page(
    'Licences',
    "spanscore is under Apache-2.0. Installing it installs nothing but `@opentelemetry/api`; `ai`, `zod` and the packages of providers are the application's own. It and `@spanscore/cli` hold code of these packages, with their licences in `dist/third-party-licences.txt`:",
    tableOf(bundled),
    'Installing `@spanscore/cli` installs these packages too:',
    tableOf(installedWith('cli', lock.packages)),
    'Installing `@spanscore/server` installs these:',
    tableOf(installedWith('server', lock.packages)),
  )
}

interface NamedPackage extends LockedPackage {
  readonly name: string
}

function installedWith(root: string, packages: Readonly<Record<string, LockedPackage>>): readonly NamedPackage[] {
  const seen = new Set<string>()
  const found = new Map<string, NamedPackage>()
  const visit = (path: string): void => {
    const {
      dependencies,
      optionalDependencies,
      peerDependencies = {},
      peerDependenciesMeta: meta,
    } = packages[path] ?? {}
    const peers = Object.keys(peerDependencies).filter((name) => meta?.[name]?.optional !== true)
    for (const name of [...Object.keys({ ...dependencies, ...optionalDependencies }), ...peers]) {
      const at = placesAbove(path, name).find((place) => packages[place]?.version !== undefined)
      const locked = at === undefined ? undefined : packages[at]
      if (at === undefined || locked?.version === undefined || seen.has(at) || OWN.has(name)) continue
      seen.add(at)
      // A package that is installed twice in one version is listed once.
      found.set(`${name}@${locked.version}`, { ...locked, name })
      visit(at)
    }
  }
  visit(root)
  return [...found.values()]
}

/** Where Node.js looks for a package, from the nearest folder on. */
function placesAbove(path: string, name: string): string[] {
  const above = path.split('/node_modules/').map((_, index, parts) => parts.slice(0, index + 1).join('/node_modules/'))
  return [...above.toReversed().map((folder) => `${folder}/node_modules/${name}`), `node_modules/${name}`]
}

const OWN: ReadonlySet<string> = new Set(['spanscore', '@spanscore/cli', '@spanscore/server'])

function tableOf(packages: readonly NamedPackage[]): string {
  return table(
    ['package', 'version', 'licence'],
    packages
      .map(({ name, version = '', license = '' }) => [code(name), version, license])
      .toSorted(([a = ''], [b = '']) => a.localeCompare(b, 'en')),
  )
}
