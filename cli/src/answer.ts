import { safeLine } from './text.ts'

/** Bytes of an answer that are read for a message. */
const MAX_MESSAGE_BYTES = 64 * 1024

/** The beginning of what a backend answered, on one safe line. */
export async function describeAnswer(response: Response): Promise<string> {
  const to = response.headers.get('location')
  if (to !== null) return `${response.status}: a redirect to ${safeLine(to.slice(0, 200))}, which is not followed`
  return `${response.status} ${safeLine((await bodyTextOf(response)).slice(0, 200))}`.trim()
}

/** The text of an answer, up to 64 KiB. */
export async function bodyTextOf({ body }: Response): Promise<string> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of body ?? []) {
    chunks.push(chunk)
    bytes += chunk.byteLength
    if (bytes >= MAX_MESSAGE_BYTES) break
  }
  return Buffer.concat(chunks).subarray(0, MAX_MESSAGE_BYTES).toString('utf8')
}
