import { readFileSync } from 'node:fs'

import { code, page, table } from './markdown.ts'

interface LockedPackage {
  readonly version?: string
  readonly license?: string
  readonly dependencies?: Readonly<Record<string, string>>
}

/** `docs/reference/licences.md`: what is installed with the package, and under which licences. */
export function licencesPage(): string {
  const lock: { readonly packages: Readonly<Record<string, LockedPackage>> } = JSON.parse(
    readFileSync('package-lock.json', 'utf8'),
  )
  const seen = new Set<string>()
  const found = new Map<string, LockedPackage & { readonly name: string }>()
  const visit = (path: string): void => {
    for (const name of Object.keys(lock.packages[path]?.dependencies ?? {})) {
      const nested = `${path === '' ? '' : `${path}/`}node_modules/${name}`
      const at = lock.packages[nested] === undefined ? `node_modules/${name}` : nested
      const locked = lock.packages[at]
      if (locked === undefined || seen.has(at)) continue
      seen.add(at)
      // A package that is installed twice in one version is listed once.
      found.set(`${name}@${locked.version}`, { ...locked, name })
      visit(at)
    }
  }
  visit('')
  return page(
    'Licences',
    "spanscore is under Apache-2.0, and its files hold no code of others. Installing it installs these packages beside it; `@opentelemetry/api`, `ai`, `zod` and the packages of providers are the application's own.",
    table(
      ['package', 'version', 'licence'],
      [...found.values()]
        .map(({ name, version = '', license = '' }) => [code(name), version, license])
        .toSorted(([a = ''], [b = '']) => a.localeCompare(b, 'en')),
    ),
  )
}
