import http from 'node:http'
import https from 'node:https'

import { afterEach, expect, it } from 'vitest'

import { proxiesIn, useProxies } from './proxies.ts'

const agents = [http.globalAgent, https.globalAgent] as const
afterEach(() => {
  ;[http.globalAgent, https.globalAgent] = agents
})

it('a proxy may be given without http://, as other programs take it', () => {
  expect(proxiesIn({ https_proxy: 'proxy:3128' })).toMatchObject({ HTTPS_PROXY: 'http://proxy:3128' })
})

it('an address that Node.js would pass over is named, without its password', () => {
  const environment = { HTTPS_PROXY: 'socks5://user:secret@proxy:1080', HTTP_PROXY: 'http://user:secret@proxy:3128' }
  expect(proxiesIn(environment)).toMatchObject({ HTTPS_PROXY: undefined })
  expect(useProxies(environment)).toEqual([
    'HTTPS_PROXY is not used: expected http://host:port or https://host:port, got another address.',
    'HTTP_PROXY: requests go through proxy:3128.',
  ])
  expect(useProxies({ HTTP_PROXY: 'http://' })[0]).toMatch(/^HTTP_PROXY is not used/)
})
