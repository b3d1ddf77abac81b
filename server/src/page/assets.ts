import { readdirSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'

/** A file of the page. */
export interface Asset {
  readonly body: Buffer
  readonly type: string
  /** Files whose name changes with their content may be cached. */
  readonly isImmutable: boolean
  readonly isGzipped: boolean
}

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
}

/** The built page. The path is the same from the sources and from the built service. */
export const ASSETS_FOLDER: string = join(import.meta.dirname, '../../dist/assets')

/**
 * Reads the built page.
 *
 * @throws Error if it was not built
 */
export function readAssets(folder: string = ASSETS_FOLDER): ReadonlyMap<string, Asset> {
  try {
    const assets = readdirSync(folder).flatMap((file): [string, Asset][] => {
      const isGzipped = file.endsWith('.gz')
      const name = isGzipped ? file.slice(0, -3) : file
      const type = TYPES[extname(name)]
      if (type === undefined) return []
      const isImmutable = /-[0-9A-Z]{8}\./.test(name)
      return [[`/${name}`, { body: readFileSync(join(folder, file)), type, isImmutable, isGzipped }]]
    })
    if (!assets.some(([name]) => name === '/index.html')) throw new Error('index.html is missing')
    return new Map(assets)
  } catch (error) {
    throw new Error(`${folder}: expected the built page, got none. Run "npm run build".`, { cause: error })
  }
}
