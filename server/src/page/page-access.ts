import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'

import { hostName, isLoopback } from '../receive/access.ts'

/** Why a request is refused. */
export interface PageRefusal {
  readonly status: number
  readonly message: string
}

/** What every answer carries: nothing from elsewhere, nothing inline, in nobody's frame, remembered nowhere. */
export const PAGE_HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; font-src 'none'; " +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
}

/** Refuses a name that an attacker points at this machine: it is not one of ours. */
export function refuseHost(
  headers: IncomingHttpHeaders,
  host: string,
  allowedHosts: readonly string[],
): PageRefusal | undefined {
  const name = hostName(headers.host)
  if (name !== undefined && (isLoopback(name) || name === host.toLowerCase() || allowedHosts.includes(name)))
    return undefined
  return { status: 403, message: 'Expected a Host header that names this machine, got another; see --allowed-host.' }
}

/** Refuses what another page sends: it has its own origin. */
export function refuseOrigin(headers: IncomingHttpHeaders): PageRefusal | undefined {
  const { origin } = headers
  const site = headers['sec-fetch-site']
  const isOwn = origin === undefined || origin === `http://${headers.host}`
  if (isOwn && (site === undefined || site === 'same-origin' || site === 'none')) return undefined
  return { status: 403, message: 'Expected a request of the page itself, got one of another page.' }
}

/** Whether a request shows the token. It is a header, which no browser adds by itself: nothing is done in the name of a visitor. */
export function refuseWithoutToken(headers: IncomingHttpHeaders, token: string): PageRefusal | undefined {
  const given = /^Bearer +(.+)$/i.exec(headers.authorization ?? '')?.[1] ?? ''
  if (timingSafeEqual(digest(given), digest(token))) return undefined
  return { status: 401, message: 'Expected the token of the page: open the address that the service printed.' }
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
