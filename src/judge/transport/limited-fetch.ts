import { isTooLargeToParse } from '../../spans/json.ts'

/** The longest response body that is read. The longest reply that is parsed takes up less, even with every character escaped. */
const LARGEST_BODY_BYTES = 2 * 1024 * 1024
/** The most JSON values of a body, apart from the model's text. Providers check each of them, which takes several microseconds. */
const MOST_VALUES = 5000

/** A response that is not handed to the provider's package. Its message quotes nothing of the response. */
export class RefusedResponseError extends Error {
  override readonly name = 'RefusedResponseError'
}

/**
 * Like `fetch`, but reads at most 2 MiB, decompressed, before the provider's package parses them, and follows no redirects: another server
 * must not receive the prompt. The package gets the redirect as the response, and reports its status, and so it does with an error whose
 * body is too large to be read.
 *
 * @throws RefusedResponseError if the body is too large for a reply
 */
export async function limitedFetch(input: string | URL | Request, init?: RequestInit): Promise<Response> {
  const response = await fetch(input, { ...init, redirect: 'manual' })
  const { status, statusText, headers, body } = response
  if (body === null) return response
  const bytes = await readAtMost(body, LARGEST_BODY_BYTES)
  const isTooLarge = bytes === undefined || isTooLargeToParse(bytes.toString('latin1'), MOST_VALUES)
  if (isTooLarge && response.ok) {
    throw new RefusedResponseError(
      `it is longer than ${LARGEST_BODY_BYTES} bytes, has more than ${MOST_VALUES} values, or nests them too deeply`,
    )
  }
  // No other status can be that of a response.
  if (status < 200 || status > 599) throw new RefusedResponseError(`its status is ${status}`)
  return new Response(isTooLarge ? '' : new Uint8Array(bytes), { status, statusText, headers })
}

/** Reads a stream to its end; cancels it and returns `undefined` if it is longer. */
async function readAtMost(body: ReadableStream<Uint8Array>, maxBytes: number): Promise<Buffer | undefined> {
  const chunks: Uint8Array[] = []
  let length = 0
  // Leaving the loop cancels the stream, which closes the connection.
  for await (const chunk of body) {
    length += chunk.byteLength
    if (length > maxBytes) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks, length)
}
