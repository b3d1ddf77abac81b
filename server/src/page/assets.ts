import { readdirSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { gunzipSync } from 'node:zlib'

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

/** The page for browsers that find it below a path: its own addresses begin with the prefix. */
export function assetsBelow(prefix: string, assets: ReadonlyMap<string, Asset>): ReadonlyMap<string, Asset> {
  const index = assets.get('/index.html')
  if (prefix === '' || index === undefined) return assets
  const html = (index.isGzipped ? gunzipSync(index.body) : index.body).toString()
  const body = Buffer.from(html.replaceAll(/(href|src)="\//g, `$1="${prefix}/`))
  return new Map([...assets, ['/index.html', { ...index, body, isGzipped: false }]])
}

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
