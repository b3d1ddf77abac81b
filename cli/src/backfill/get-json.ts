import { directFetch } from '../../../src/judge/transport/limited-fetch.ts'
import { UsageError } from '../usage-error.ts'
import { describeAnswer } from '../answer.ts'
import { safeLine } from '../text.ts'
import type { BackendAccess } from './backend-access.ts'
import { retried } from './retried.ts'

/** A larger answer is treated as too many traces. */
const MAX_ANSWER_BYTES = 128 * 1024 * 1024

const TIMEOUT_MS = 60_000

/** An answer of a backend. */
export type BackendAnswer =
  | { readonly kind: 'json'; readonly value: unknown }
  | { readonly kind: 'not-found' }
  | { readonly kind: 'too-large' }

/**
 * Asks a backend for JSON, several times if it is not available.
 *
 * @throws UsageError what it answered instead
 */
export async function getJson(url: URL, { headers, agent }: BackendAccess): Promise<BackendAnswer> {
  const response = await retried(
    `--from ${url.origin}`,
    () =>
      directFetch(
        url,
        { headers: { accept: 'application/json', ...headers }, signal: AbortSignal.timeout(TIMEOUT_MS) },
        agent,
      ),
    { ca: '--from-ca', cert: '--from-cert and --from-key' },
  )
  if (response.status === 404) {
    await response.body?.cancel()
    return { kind: 'not-found' }
  }
  if (!response.ok) throw new UsageError(`--from ${url.origin}${url.pathname}: ${await describeAnswer(response)}`)
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength
    if (bytes > MAX_ANSWER_BYTES) return { kind: 'too-large' }
    chunks.push(chunk)
  }
  const text = Buffer.concat(chunks).toString('utf8')
  try {
    return { kind: 'json', value: JSON.parse(text) }
  } catch {
    throw new UsageError(`--from ${url.origin}${url.pathname}: expected JSON, got ${safeLine(text.slice(0, 60))}`)
  }
}
