import { request as httpRequest } from 'node:http'
import type { Agent, OutgoingHttpHeaders } from 'node:http'
import { request as httpsRequest } from 'node:https'

/** Bytes of an answer that are read, so that its connection can be used again. */
const MAX_ANSWER_BYTES = 64 * 1024

/** How a request is sent. */
export interface PostOptions {
  /** Besides the length of the body. */
  readonly headers: OutgoingHttpHeaders
  /** Maximum milliseconds without a byte. */
  readonly timeoutMs: number
  /** Its connections. @default the process's own */
  readonly agent?: Agent | undefined
  /** Ends the request. @default nothing does */
  readonly signal?: AbortSignal | undefined
}

/**
 * Sends a request whose answer counts by its status alone. Redirects are not followed, because content must not follow them to another host.
 *
 * @returns the status of the answer
 */
export function postForStatus(
  url: string,
  body: Uint8Array,
  { headers, timeoutMs, agent, signal }: PostOptions,
): Promise<number> {
  const options = {
    method: 'POST',
    timeout: timeoutMs,
    headers: { ...headers, 'content-length': body.byteLength },
    ...(agent !== undefined && { agent }),
    ...(signal !== undefined && { signal }),
  }
  return new Promise((resolve, reject) => {
    const request = (url.startsWith('https:') ? httpsRequest : httpRequest)(url, options, (response) => {
      resolve(response.statusCode ?? 0)
      // The connection is used again after the body, which may never end.
      const timer = setTimeout(() => response.destroy(), timeoutMs)
      let bytes = 0
      response
        .on('close', () => clearTimeout(timer))
        .on('data', (chunk: Buffer) => {
          bytes += chunk.byteLength
          if (bytes > MAX_ANSWER_BYTES) response.destroy()
        })
    })
    request.on('timeout', () => request.destroy(new Error(`no answer within ${timeoutMs} ms`)))
    request.on('error', reject)
    request.end(body)
  })
}
