import type { Agent, IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'

import { isTooLargeToParse } from '../../spans/json.ts'

/** The longest response body that is read. The longest reply that is parsed takes up less, even with every character escaped. */
const LARGEST_BODY_BYTES = 2 * 1024 * 1024
/** The most JSON values of a body, apart from the model's text. Providers check each of them, which takes several microseconds. */
const MOST_VALUES = 5000
/** Statuses whose responses must not have a body. */
const WITHOUT_BODY = new Set([204, 205, 304])

/** A response that is not handed to the provider's package. Its message quotes nothing of the response. */
export class RefusedResponseError extends Error {
  override readonly name = 'RefusedResponseError'
}

/**
 * Like `fetch`, but waits as long as the signal allows, reads at most 2 MiB, decompressed, before the provider's package parses them, and
 * follows no redirects: another server must not receive the prompt. The package gets the redirect as the response, and reports its status,
 * and so it does with an error whose body is too large to be read.
 *
 * It is built on `node:http`, because the global `fetch` gives up after 300 s without headers, whatever its caller wants, and a model
 * that is loaded or shared may be silent for longer.
 *
 * @throws RefusedResponseError if the body is too large for a reply
 */
export async function limitedFetch(input: string | URL | Request, init?: RequestInit): Promise<Response> {
  const request = new Request(input, init)
  const response = await send(request, Buffer.from(await request.arrayBuffer()))
  const { statusCode: status = 0, statusMessage: statusText = '' } = response
  // No other status can be that of a response.
  if (status < 200 || status > 599) {
    response.destroy()
    throw new RefusedResponseError(`its status is ${status}`)
  }
  const bytes = await readAtMost(decompressed(response), LARGEST_BODY_BYTES)
  const isTooLarge = bytes === undefined || isTooLargeToParse(bytes.toString('latin1'), MOST_VALUES)
  if (isTooLarge && status < 300) {
    throw new RefusedResponseError(
      `it is longer than ${LARGEST_BODY_BYTES} bytes, has more than ${MOST_VALUES} values, or nests them too deeply`,
    )
  }
  const body = WITHOUT_BODY.has(status) ? null : isTooLarge ? '' : new Uint8Array(bytes)
  return new Response(body, { status, statusText, headers: headersOf(response) })
}

/**
 * Like `fetch` over `node:http`, which goes through the proxies of the process, and follows no redirects. Its reader must limit the body.
 *
 * @param agent @default the process's own
 */
export async function directFetch(input: string | URL, init: RequestInit = {}, agent?: Agent): Promise<Response> {
  const request = new Request(input, init)
  const response = await send(request, Buffer.from(await request.arrayBuffer()), agent)
  const { statusCode: status = 0 } = response
  if (status < 200 || status > 599) {
    response.destroy()
    throw new RefusedResponseError(`its status is ${status}`)
  }
  if (WITHOUT_BODY.has(status)) response.resume()
  const { Readable: Streams } = process.getBuiltinModule('node:stream')
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- two declarations of one class
  const body = WITHOUT_BODY.has(status) ? null : (Streams.toWeb(decompressed(response)) as ReadableStream)
  return new Response(body, { status, headers: headersOf(response) })
}

/** Sends a request, and waits for the head of its response without a limit of its own. */
function send({ url, method, headers, signal }: Request, body: Buffer, agent?: Agent): Promise<IncomingMessage> {
  const { request } = process.getBuiltinModule(url.startsWith('https:') ? 'node:https' : 'node:http')
  return new Promise((resolve, reject) => {
    request(url, {
      method,
      signal,
      ...(agent !== undefined && { agent }),
      headers: { 'accept-encoding': 'gzip', ...Object.fromEntries(headers), 'content-length': body.length },
    })
      .on('response', resolve)
      .on('error', reject)
      .end(body)
  })
}

/** The body without its compression. Servers may compress in another way than they were asked to. */
function decompressed(response: IncomingMessage): Readable {
  const { createBrotliDecompress, createGunzip, createInflate } = process.getBuiltinModule('node:zlib')
  const decoders = { gzip: createGunzip, 'x-gzip': createGunzip, deflate: createInflate, br: createBrotliDecompress }
  const encoding = response.headers['content-encoding']?.trim().toLowerCase() ?? ''
  if (!isKeyOf(decoders, encoding)) return response
  // An error of either stream ends both, and the reader of the last one gets it.
  return process.getBuiltinModule('node:stream').pipeline(response, decoders[encoding](), () => undefined)
}

function isKeyOf<T extends object>(object: T, key: PropertyKey): key is keyof T {
  return Object.hasOwn(object, key)
}

/** Reads a stream to its end; destroys it and returns `undefined` if it is longer. */
async function readAtMost(body: Readable, maxBytes: number): Promise<Buffer | undefined> {
  const chunks: Buffer[] = []
  let length = 0
  // Leaving the loop destroys the stream, which closes the connection.
  for await (const chunk of body) {
    if (!Buffer.isBuffer(chunk)) continue
    length += chunk.byteLength
    if (length > maxBytes) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks, length)
}

/** The headers of the decompressed response. */
function headersOf({ headers }: IncomingMessage): Headers {
  const result = new Headers()
  for (const [name, value] of Object.entries(headers)) {
    if (name === 'content-encoding' || name === 'content-length' || value === undefined) continue
    for (const one of Array.isArray(value) ? value : [value]) result.append(name, one)
  }
  return result
}
