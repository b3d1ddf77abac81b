import { readFileSync } from 'node:fs'

import { BUNDLED } from '../bundled-packages.ts'
import { code, page, table } from './markdown.ts'

interface LockedPackage {
  readonly version?: string
  readonly license?: string
  readonly dependencies?: Readonly<Record<string, string>>
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
    for (const name of Object.keys(packages[path]?.dependencies ?? {})) {
      const nested = `${path}/node_modules/${name}`
      const at = packages[nested] === undefined ? `node_modules/${name}` : nested
      const locked = packages[at]
      if (locked?.version === undefined || seen.has(at)) continue
      seen.add(at)
      // A package that is installed twice in one version is listed once.
      found.set(`${name}@${locked.version}`, { ...locked, name })
      visit(at)
    }
  }
  visit(root)
  return [...found.values()]
}

function tableOf(packages: readonly NamedPackage[]): string {
  return table(
    ['package', 'version', 'licence'],
    packages
      .map(({ name, version = '', license = '' }) => [code(name), version, license])
      .toSorted(([a = ''], [b = '']) => a.localeCompare(b, 'en')),
  )
}
