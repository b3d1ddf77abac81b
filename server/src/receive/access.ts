import { createHash, timingSafeEqual } from 'node:crypto'
import { isIP } from 'node:net'

import { Refusal } from './refusal.ts'

/** Who may send. */
export interface AccessOptions {
  /** The required token of `Authorization: Bearer …`, or two, while one replaces the other; `undefined` if none is needed. */
  readonly token: string | readonly string[] | undefined
  /** Host names of the service, besides loopback ones. */
  readonly allowedHosts: readonly string[]
  /** Whether the listener requires client certificates, which the TLS handshake verifies. */
  readonly hasClientCertificates: boolean
}

/** The parts of a request that access depends on. */
export interface Caller {
  readonly host: string | undefined
  readonly origin: string | undefined
  readonly authorization: string | undefined
}

/**
 * Accepts or refuses a request. `Origin` and `Host` show requests that another page makes a browser send: there is no cross-origin access,
 * and a host name that an attacker points at this machine is unknown.
 *
 * @throws Refusal
 */
export function checkAccess({ token, allowedHosts, hasClientCertificates }: AccessOptions, caller: Caller): void {
  if (caller.origin !== undefined) {
    throw new Refusal(
      'forbidden',
      'Expected a request from a program, got one that a web page made (it has an Origin header).',
    )
  }
  if (token !== undefined) {
    if (!isToken(caller.authorization, token)) {
      throw new Refusal(
        'unauthenticated',
        'Expected the header "Authorization: Bearer <token>" with the token of this service.',
      )
    }
    return
  }
  if (hasClientCertificates) return
  const name = hostName(caller.host)
  if (name === undefined || (!isLoopback(name) && !allowedHosts.includes(name))) {
    throw new Refusal('forbidden', `Expected a Host header that names this machine, got another; see --allowed-host.`)
  }
}

/** Whether a name or address can only be reached from this machine. */
export function isLoopback(name: string): boolean {
  return name === 'localhost' || name === '::1' || (isIP(name) === 4 && name.startsWith('127.'))
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

/** The name in a Host header, without the port. */
export function hostName(host: string | undefined): string | undefined {
  if (host === undefined || host === '') return undefined
  const bracketed = /^\[([^\]]+)\](?::\d+)?$/.exec(host)
  return (bracketed?.[1] ?? host.replace(/:\d+$/, '')).toLowerCase()
}

/** Compares digests, so that length and timing reveal nothing about the token. */
function isToken(authorization: string | undefined, token: string | readonly string[]): boolean {
  const given = digest(/^Bearer +(.+)$/i.exec(authorization ?? '')?.[1] ?? '')
  return [token].flat().filter((each) => timingSafeEqual(given, digest(each))).length > 0
}
