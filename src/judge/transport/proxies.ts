import type { Environment } from './connection.ts'

/** What an agent of `node:http` reads of the environment to find its proxy. */
export type ProxyEnvironment = Readonly<Record<'HTTP_PROXY' | 'HTTPS_PROXY' | 'NO_PROXY', string | undefined>>

/** Programs on this machine are never reached through a proxy. */
const LOOPBACK = 'localhost,127.0.0.1-127.255.255.254,::1,[::1]'

/**
 * The proxies of a program of ours.
 *
 * @throws Error if this Node.js knows no proxies
 */
export function proxiesIn(environment: Environment): ProxyEnvironment {
  const proxies = {
    HTTP_PROXY: toProxy(given(environment, 'HTTP_PROXY')),
    HTTPS_PROXY: toProxy(given(environment, 'HTTPS_PROXY')),
  }
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  const isKnown = major > 24 || (major === 24 && minor >= 5) || (major === 22 && minor >= 21)
  if (!isKnown && (proxies.HTTP_PROXY ?? proxies.HTTPS_PROXY) !== undefined)
    throw new Error(`HTTPS_PROXY, HTTP_PROXY: expected Node.js 22.21, 24.5 or later, got ${process.version}.`)
  return { ...proxies, NO_PROXY: [given(environment, 'NO_PROXY'), LOOPBACK].filter(Boolean).join(',') }
}

function given(environment: Environment, name: string): string | undefined {
  return environment[name.toLowerCase()] || environment[name] || undefined
}

/** The address of a proxy; `undefined` if Node.js would send without it. As for other programs, `http://` may be left out. */
function toProxy(address: string | undefined): string | undefined {
  const url = address === undefined || address.includes('://') ? address : `http://${address}`
  return url !== undefined && /^https?:\/\//.test(url) && URL.canParse(url) ? url : undefined
}

/**
 * Makes everything that this process sends go through its proxies. Only for programs of ours: inside an application, its agents are its own.
 *
 * @returns lines for the user: which proxies are used, without passwords, and what Node.js does not understand
 */
export function useProxies(environment: Environment): readonly string[] {
  const proxyEnv = proxiesIn(environment)
  const http = process.getBuiltinModule('node:http')
  const https = process.getBuiltinModule('node:https')
  // As Node.js makes its own ones.
  const options = { keepAlive: true, scheduling: 'lifo', timeout: 5000, proxyEnv } as const
  http.globalAgent = new http.Agent(options)
  https.globalAgent = new https.Agent(options)
  const used = (['HTTPS_PROXY', 'HTTP_PROXY'] as const).flatMap((name) => {
    const proxy = proxyEnv[name]
    if (proxy !== undefined) return [`${name}: requests go through ${new URL(proxy).host}.`]
    if (given(environment, name) === undefined) return []
    return [`${name} is not used: expected http://host:port or https://host:port, got another address.`]
  })
  if (used.length === 0) return []
  const strange = proxyEnv.NO_PROXY?.split(/[\s,]+/).filter((entry) => entry.includes('/')) ?? []
  return [
    ...used,
    ...strange.map((entry) => `NO_PROXY: ${entry} is not understood: write a range, such as 10.0.0.0-10.255.255.255.`),
  ]
}
