import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'

import { isRecord } from '../../src/spans/json.ts'
import { UsageError } from './usage-error.ts'

/** The package of the service, in which the page is. */
export const SERVER_PACKAGE = '@spanscore/server'

const PLACES = (): readonly string[] => [join(process.cwd(), 'index.js'), import.meta.url]

/**
 * The path of a file of the service's package: its program, or its module. The package of the working directory comes first, then the one
 * beside this program, as npx installs them.
 *
 * @param places files whose packages are searched, in their order
 * @throws UsageError if it is not installed
 */
export function serverFile(which: 'program' | 'module', places: readonly string[] = PLACES()): string {
  for (const from of places) {
    try {
      const manifest = createRequire(from).resolve(`${SERVER_PACKAGE}/package.json`)
      const parsed: unknown = JSON.parse(readFileSync(manifest, 'utf8'))
      const path = join(dirname(manifest), pathIn(parsed, which))
      if (existsSync(path)) return path
    } catch {}
  }
  throw new UsageError(
    `${SERVER_PACKAGE} is not installed here: npm install ${SERVER_PACKAGE} (before the first release, its packed file from a clone)`,
  )
}

/**
 * A function of the service's module.
 *
 * @throws UsageError if the package is not installed, or has no such function
 */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the caller names the type of the function
export async function loadFromServer<Function>(name: 'openView' | 'startView'): Promise<Function> {
  const module: unknown = await import(pathToFileURL(serverFile('module')).href)
  if (!isRecord(module) || typeof module[name] !== 'function')
    throw new UsageError(`expected a ${SERVER_PACKAGE} of this version of spanscore, got an older one`)
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- both packages have the same version
  return module[name] as Function
}

function pathIn(manifest: unknown, which: 'program' | 'module'): string {
  const paths = isRecord(manifest) ? (which === 'program' ? manifest['bin'] : manifest['exports']) : undefined
  const found = isRecord(paths) ? paths[which === 'program' ? 'spanscore-server' : '.'] : undefined
  const path = isRecord(found) ? found['default'] : found
  return typeof path === 'string' ? path : ''
}
