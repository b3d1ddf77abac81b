import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'

import { hostName, isLoopback } from '../receive/access.ts'

/** Why a request is refused. */
export interface PageRefusal {
  readonly status: number
  readonly message: string
}

/** The headers of every response: no external or inline content, no framing, no caching. */
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

/** Refuses a host name that an attacker points at this machine. */
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

/**
 * Refuses requests from other pages, which have another origin. A proxy may end TLS before the page, so that its origin has another scheme
 * here than in the browser; and it may name another host, whose origin is then that of `--page-url`.
 */
export function refuseOrigin(headers: IncomingHttpHeaders, publicUrl?: string): PageRefusal | undefined {
  const { origin } = headers
  const site = headers['sec-fetch-site']
  const own = publicUrl === undefined ? undefined : new URL(publicUrl).origin
  const isOwn = origin === undefined || origin === own || URL.parse(origin)?.host === headers.host
  if (isOwn && (site === undefined || site === 'same-origin' || site === 'none')) return undefined
  return { status: 403, message: 'Expected a request of the page itself, got one of another page.' }
}

/**
 * Refuses requests without the token. It is a header, which browsers never add by themselves. A proxy that signs people in by a cookie adds it
 * to requests of other pages, too: those are refused by their origin.
 */
export function refuseWithoutToken(headers: IncomingHttpHeaders, tokens: readonly string[]): PageRefusal | undefined {
  const given = digest(/^Bearer +(.+)$/i.exec(headers.authorization ?? '')?.[1] ?? '')
  if (tokens.filter((token) => timingSafeEqual(given, digest(token))).length > 0) return undefined
  return { status: 401, message: 'Expected the token of the page: open the address that the service printed.' }
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
