import { Agent } from 'node:http'
import { Agent as SecureAgent } from 'node:https'

import { proxiesIn } from 'spanscore/engine'

import type { FromFiles } from './given-files.ts'

/** What a client needs for TLS, in PEM. */
export interface ClientTls {
  readonly ca?: string
  readonly cert?: string
  readonly key?: string
}

/** The connections to one destination: through the proxies of the environment, and with certificates. Those that are open live on when these change. */
export function destinationAgent(url: string, tls: FromFiles<ClientTls> | undefined): Agent {
  const options = { keepAlive: true, proxyEnv: proxiesIn(process.env) }
  if (!url.startsWith('https:')) return new Agent(options)
  const agent = new SecureAgent({ ...options, ...tls?.value })
  tls?.onChange((changed) => Object.assign(agent.options, changed))
  return agent
}
