import { readFileSync } from 'node:fs'

import { directFetch } from '../../../src/judge/transport/limited-fetch.ts'
import { isRecord } from '../../../src/spans/json.ts'
import type { CommandContext } from '../command.ts'
import { safeLine } from '../text.ts'
import { UsageError } from '../usage-error.ts'
import type { PageSource } from './page-client.ts'

/** More than the largest run that a page shows. */
const MAX_BYTES = 256 * 1024 * 1024
const TIMEOUT_MS = 60_000

/**
 * The page that options name.
 *
 * @param tokenFile the file with its token; without it, the variable SPANSCORE_PAGE_TOKEN
 * @throws UsageError if an option is wrong
 */
export function pageSource(page: string, tokenFile: string | undefined, context: CommandContext): PageSource {
  return createHttpSource(originOf(page), tokenReader(tokenFile, context))
}

/**
 * A page over HTTP. Redirects are not followed, so that nobody else gets the token.
 *
 * @param readToken its token, read for each request, because a service may make a new one
 */
function createHttpSource(origin: string, readToken: () => string): PageSource {
  const ask = async (path: string, search: URLSearchParams): Promise<unknown> => {
    const headers = { accept: 'application/json', authorization: `Bearer ${readToken()}` }
    const url = new URL(`${path}?${search.toString()}`, origin)
    const { status, type, body } = await answerOf(url, headers).catch((error: unknown) => {
      const cause = error instanceof Error ? ('code' in error ? String(error.code) : error.message) : ''
      throw new UsageError(`The page at ${origin} does not answer (${safeLine(cause)}). When it runs again, ask again.`)
    })
    if (status === 200 && body !== undefined) return body
    const message = isRecord(body) && typeof body['error'] === 'string' ? body['error'] : undefined
    if (status === 401 && message !== undefined)
      throw new UsageError(`The page at ${origin} refuses the token; the right one is in page-token in its data folder`)
    const other = `Expected the page's own answer at ${origin}, got ${status} ${safeLine(type)}: perhaps a sign-on. Give --page the port of the page itself.`
    throw new UsageError(message ?? other)
  }
  return { origin, ask }
}

async function answerOf(url: URL, headers: Readonly<Record<string, string>>) {
  const response = await directFetch(url, { headers, signal: AbortSignal.timeout(TIMEOUT_MS) })
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength
    if (bytes > MAX_BYTES) throw new Error(`its answer is longer than ${MAX_BYTES} bytes`)
    chunks.push(chunk)
  }
  const type = response.headers.get('content-type') ?? ''
  const body: unknown = type.startsWith('application/json') ? JSON.parse(Buffer.concat(chunks).toString()) : undefined
  return { status: response.status, type, body }
}

function originOf(page: string): string {
  const url = URL.parse(page)
  if (url?.hash.startsWith('#token=') === true)
    throw new UsageError(
      '--page: expected the address without its token, which others could read in the list of processes',
    )
  if (url !== null && /^https?:$/.test(url.protocol) && page.replace(/\/$/, '') === url.origin) return url.origin
  throw new UsageError(`--page: expected the address of the page, such as http://127.0.0.1:4320, got ${safeLine(page)}`)
}

function tokenReader(file: string | undefined, { environment }: CommandContext): () => string {
  const read = (): string =>
    (file === undefined ? (environment['SPANSCORE_PAGE_TOKEN'] ?? '') : readFileSync(file, 'utf8')).trim()
  try {
    if (read() !== '') return read
  } catch (error) {
    throw new UsageError(`--token-file: ${error instanceof Error ? error.message : 'cannot be read'}`)
  }
  throw new UsageError(
    'expected the token of the page in --token-file or SPANSCORE_PAGE_TOKEN, got none; the service keeps it in page-token in its data folder (--data)',
  )
}
