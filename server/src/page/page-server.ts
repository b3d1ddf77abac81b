import { createServer } from 'node:http'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { gzip } from 'node:zlib'

import { assetsBelow } from './assets.ts'
import type { Asset } from './assets.ts'
import type { PageOptions } from './messages.ts'
import type { PageAudit } from './page-audit.ts'
import { PAGE_HEADERS, refuseHost, refuseOrigin, refuseWithoutToken } from './page-access.ts'

/** An authorised request to the page's API. */
export interface ApiRequest {
  readonly method: string
  readonly path: string
  readonly query: URLSearchParams
  /** Parsed JSON; `undefined` for GET. */
  readonly body: unknown
}

/** Writes a line of a response. @returns when the browser has room for another */
export type WriteLine = (text: string) => Promise<void>

/** A response: JSON, or lines that are streamed. */
export type ApiAnswer =
  | { readonly status: number; readonly json: unknown }
  | {
      readonly type: string
      readonly fileName?: string
      /** Resolves when everything is written. Each line resolves when there is room for another. */
      readonly write: (line: WriteLine) => Promise<void>
    }

/** An invalid request: what was expected, what came. */
export class BadRequestError extends Error {
  override readonly name = 'BadRequestError'
}

/** Maximum bytes of a request's body. The largest are imports of some 40,000 labels, which take half a second. */
const MAX_BODY_BYTES = 8 * 1024 * 1024

const GZIP_FROM_BYTES = 4096

/** Serves the page and its API. The page itself has no data; everything else needs the token. */
export function createPageServer(
  { host, allowedHosts, publicUrl }: Pick<PageOptions, 'host' | 'allowedHosts' | 'publicUrl'>,
  tokens: () => readonly string[],
  given: ReadonlyMap<string, Asset>,
  handle: (request: ApiRequest) => Promise<ApiAnswer> | ApiAnswer,
  onWrongToken: (address: string | undefined) => void = () => undefined,
  audit?: PageAudit,
): Server {
  const prefix = prefixOf(publicUrl)
  const assets = assetsBelow(prefix, given)
  const hosts = publicUrl === undefined ? allowedHosts : [...allowedHosts, new URL(publicUrl).hostname]
  return createServer(
    { headersTimeout: 10_000, requestTimeout: 60_000, maxHeaderSize: 16 * 1024 },
    (request, response) => {
      for (const [name, value] of Object.entries(PAGE_HEADERS)) response.setHeader(name, value)
      const url = URL.parse(request.url ?? '/', 'http://page')
      if (url === null) {
        sendJson(request, response, 400, { error: 'Expected a path, got something else.' })
        return
      }
      // A proxy may remove the prefix, or leave it.
      if (`${url.pathname}/`.startsWith(`${prefix}/`)) url.pathname = url.pathname.slice(prefix.length)
      const isApi = url.pathname.startsWith('/api/')
      const refusal =
        refuseHost(request.headers, host, hosts) ??
        (isApi
          ? (refuseOrigin(request.headers, publicUrl) ?? refuseWithoutToken(request.headers, tokens()))
          : undefined)
      if (refusal?.status === 401) onWrongToken(request.socket.remoteAddress)
      if (refusal !== undefined) sendJson(request, response, refusal.status, { error: refusal.message })
      else if (isApi) void answerApi(request, response, url, handle, audit)
      else sendAsset(request, response, url.pathname, assets)
    },
  )
}

/** The path of an address, without a slash at its end. */
function prefixOf(publicUrl: string | undefined): string {
  return publicUrl === undefined ? '' : new URL(publicUrl).pathname.replace(/\/+$/, '')
}

async function answerApi(
  request: IncomingMessage,
  response: ServerResponse,
  url: URL,
  handle: (request: ApiRequest) => Promise<ApiAnswer> | ApiAnswer,
  audit: PageAudit | undefined,
): Promise<void> {
  try {
    const asked: ApiRequest = {
      method: request.method ?? 'GET',
      path: url.pathname,
      query: url.searchParams,
      body: request.method === 'POST' ? await bodyOf(request) : undefined,
    }
    const answer = await handle(asked)
    if (!('json' in answer) || answer.status < 400) audit?.note(request.headers, asked)
    if ('json' in answer) {
      sendJson(request, response, answer.status, answer.json)
      return
    }
    response.writeHead(200, {
      'content-type': answer.type,
      'cache-control': 'no-store',
      ...(answer.fileName !== undefined && { 'content-disposition': `attachment; filename="${answer.fileName}"` }),
    })
    await answer.write(async (text) => {
      if (response.destroyed || response.write(text)) return
      await new Promise<void>((resolve) => {
        const goOn = (): void => {
          response.off('drain', goOn).off('close', goOn)
          resolve()
        }
        response.on('drain', goOn).on('close', goOn)
      })
    })
    response.end()
  } catch (error) {
    const isBad = error instanceof BadRequestError
    const message = error instanceof Error ? error.message : 'unknown'
    if (response.headersSent) response.end()
    else
      sendJson(request, response, isBad ? 400 : 500, {
        error: isBad ? message : `The page failed with an error: ${message}`,
      })
  }
}

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  if (request.headers['content-type']?.split(';')[0]?.trim() !== 'application/json')
    throw new BadRequestError('Expected Content-Type application/json, got another.')
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request) {
    if (!(chunk instanceof Buffer)) continue
    bytes += chunk.byteLength
    // A body that is too large is read to its end and dropped, because a browser that is still sending would not see the response.
    if (bytes <= MAX_BODY_BYTES) chunks.push(chunk)
    else chunks.length = 0
  }
  if (bytes > MAX_BODY_BYTES)
    throw new BadRequestError(`Expected a body of at most ${MAX_BODY_BYTES} bytes, got one of ${bytes}.`)
  try {
    return JSON.parse(Buffer.concat(chunks).toString())
  } catch {
    throw new BadRequestError('Expected a body of JSON, got text that does not parse.')
  }
}

function sendAsset(
  request: IncomingMessage,
  response: ServerResponse,
  path: string,
  assets: ReadonlyMap<string, Asset>,
): void {
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    sendJson(request, response, 405, { error: 'Expected a GET, got another method.' })
    return
  }
  // Every path without a file extension is a place within the page.
  const isPlace = !/\.\w+$/.test(path)
  const asset = assets.get(isPlace ? '/index.html' : path)
  if (asset === undefined) {
    sendJson(request, response, 404, { error: 'There is no such file.' })
    return
  }
  response.writeHead(200, {
    'content-type': asset.type,
    'cache-control': asset.isImmutable ? 'public, max-age=31536000, immutable' : 'no-cache',
    'content-length': asset.body.byteLength,
    ...(asset.isGzipped && { 'content-encoding': 'gzip' }),
  })
  response.end(request.method === 'HEAD' ? undefined : asset.body)
}

function sendJson(request: IncomingMessage, response: ServerResponse, status: number, json: unknown): void {
  const body = Buffer.from(JSON.stringify(json) ?? 'null')
  const headers = { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' }
  if (body.byteLength < GZIP_FROM_BYTES || !/\bgzip\b/.test(request.headers['accept-encoding']?.toString() ?? '')) {
    response.writeHead(status, { ...headers, 'content-length': body.byteLength })
    response.end(body)
    return
  }
  gzip(body, { level: 1 }, (error, packed) => {
    if (error !== null) response.destroy()
    else {
      response.writeHead(status, { ...headers, 'content-encoding': 'gzip', 'content-length': packed.byteLength })
      response.end(packed)
    }
  })
}
