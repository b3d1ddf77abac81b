import { setTimeout as sleep } from 'node:timers/promises'

import { certificateTrouble } from '../../../src/judge/transport/certificate-trouble.ts'
import type { CertificateOptions } from '../../../src/judge/transport/certificate-trouble.ts'
import { describeAnswer } from '../answer.ts'
import { UsageError } from '../usage-error.ts'

/** Waits between attempts, in milliseconds: about a minute, in which a backend can be restarted. */
const WAITS_MS = [500, 1000, 2000, 4000, 8000, 15_000, 30_000]

/**
 * Sends a request until it is answered with a status that another attempt would not change.
 *
 * @param what what the message names
 * @param options those that cure trouble with certificates, which ends the attempts
 * @throws UsageError what the last attempt was answered instead
 */
export async function retried(
  what: string,
  send: () => Promise<Response>,
  options: CertificateOptions,
): Promise<Response> {
  let trouble = ''
  for (const waitMs of [0, ...WAITS_MS]) {
    await sleep(waitMs)
    const response = await send().catch((error: unknown) => {
      const cured = certificateTrouble(error, what, options)
      if (cured !== undefined) throw new UsageError(cured)
      return causeOf(error)
    })
    if (typeof response === 'string') {
      trouble = response
      continue
    }
    if (response.status !== 429 && response.status < 500) return response
    trouble = await describeAnswer(response).catch(causeOf)
  }
  throw new UsageError(`${what}: ${trouble}`)
}

function causeOf(error: unknown): string {
  const { cause } = error instanceof Error ? error : {}
  const shown = cause instanceof Error ? cause : error
  return shown instanceof Error ? shown.message : String(shown)
}
