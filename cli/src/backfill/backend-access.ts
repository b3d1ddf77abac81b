import { readFileSync } from 'node:fs'
import { Agent } from 'node:https'
import { createSecureContext } from 'node:tls'

import { proxiesIn } from '../../../src/judge/transport/proxies.ts'
import { UsageError } from '../usage-error.ts'

/** How requests to a backend are sent. */
export interface BackendAccess {
  readonly headers: Readonly<Record<string, string>>
  /** Its connections. @default the process's own */
  readonly agent?: Agent | undefined
}

/** Files with certificates in PEM. */
export interface CertificateFiles {
  readonly ca: string | undefined
  readonly cert: string | undefined
  readonly key: string | undefined
}

/**
 * The connections to a backend with certificates of its own; `undefined` if it has none.
 *
 * @param side the option that names the backend; others are `--from-ca` and so on
 * @throws UsageError if a file cannot be read or used, or one of two is missing
 */
export function agentWith(side: '--from' | '--to', { ca, cert, key }: CertificateFiles): Agent | undefined {
  if (ca === undefined && cert === undefined && key === undefined) return undefined
  if ((cert === undefined) !== (key === undefined))
    throw new UsageError(`${side}-cert: expected both ${side}-cert and ${side}-key, got one of them`)
  const read = (name: string, path: string | undefined): string | undefined => {
    if (path === undefined) return undefined
    const text = guarded(`${side}-${name} ${path}`, () => readFileSync(path, 'utf8'))
    // Instead of an empty one, Node.js would trust the authorities of the system.
    if (!text.includes('-----BEGIN ')) throw new UsageError(`${side}-${name} ${path}: expected PEM, got another file`)
    return text
  }
  const pems = { ca: read('ca', ca), cert: read('cert', cert), key: read('key', key) }
  guarded(`${side}-ca, ${side}-cert, ${side}-key`, () => createSecureContext(pems))
  return new Agent({ keepAlive: true, proxyEnv: proxiesIn(process.env), ...pems })
}

function guarded<Result>(what: string, run: () => Result): Result {
  try {
    return run()
  } catch (error) {
    throw new UsageError(`${what}: ${error instanceof Error ? error.message : 'cannot be used'}`)
  }
}

/**
 * Requests cannot be sent to an address with a user, and messages would show the password.
 *
 * @param variable the one that holds headers for this side
 * @throws UsageError if the address has a user or a password
 */
export function expectNoUser(side: '--from' | '--to', url: string, variable: string): void {
  const { username, password } = new URL(url)
  if (username + password === '') return
  throw new UsageError(
    `${side}: expected an address without user and password, got one with them. Send them by ${variable}='authorization=Basic …'.`,
  )
}

/** An address as messages may show it. */
export function withoutPassword(address: string): string {
  return address.replace(/\/\/.*@/, '//…@')
}
