/** `spanscore score --from` and `--to` with a private authority and a client certificate. */
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

import { afterAll, beforeAll, expect, it } from 'vitest'

import { Certificates } from '../server/test/certificates.ts'
import { runCommand } from './fixtures/run-command.ts'

const folder = mkdtempSync(join(tmpdir(), 'spanscore-from-tls-'))
const certificates = new Certificates(folder)
const at = (file: string) => certificates.path(file)
const config = join(folder, 'one.config.ts')
const paths: string[] = []
const server = createServer({}, (request, response) => {
  paths.push(request.url ?? '')
  response.setHeader('content-type', 'application/json')
  response.end('{"traces":[]}')
})

beforeAll(async () => {
  certificates.authority('company')
  for (const name of ['far', 'client']) certificates.certificate(name, 'company')
  const [cert, key, ca] = ['far.crt', 'far.key', 'company.crt'].map((file) => certificates.read(file))
  server.setSecureContext({ cert, key, ca })
  Object.assign(server, { requestCert: true, rejectUnauthorized: true })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  writeFileSync(
    config,
    `import { createToolErrorsScorer } from '${resolve('src/entries/scorers.ts')}'
export default { scorers: [createToolErrorsScorer()] }\n`,
  )
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
  rmSync(folder, { recursive: true })
})

const score = (...more: readonly string[]) => {
  const { port } = server.address() as AddressInfo
  return runCommand(['score', '--from', `tempo+https://localhost:${port}`, '--config', config, ...more])
}

it('ends at once with the option that cures an error of a certificate', async () => {
  const untrusted = await score()
  expect(untrusted.code).toBe(2)
  expect(untrusted.stderr).toMatch(/its certificate is not trusted \([A-Z_]+\): give its authority by --from-ca\./)
  const unknown = await score('--from-ca', at('company.crt'))
  expect(unknown.code).toBe(2)
  expect(unknown.stderr).toContain('give one by --from-cert and --from-key.')
  const half = await score('--from-cert', at('client.crt'))
  expect(half.stderr).toContain('expected both --from-cert and --from-key, got one of them')
  const none = await score('--from-ca', config)
  expect(none.stderr).toContain(`--from-ca ${config}: expected PEM, got another file`)
  const another = await score('--from-cert', at('client.crt'), '--from-key', at('far.key'))
  expect(another.stderr).toMatch(/--from-ca, --from-cert, --from-key: .*key values mismatch/)
  expect(paths).toEqual([])
})

it('reads a backend with its authority and a certificate of this client', async () => {
  const files = ['--from-ca', at('company.crt'), '--from-cert', at('client.crt'), '--from-key', at('client.key')]
  const { stderr } = await score(...files)
  expect(stderr).not.toContain('certificate')
  expect(paths.some((path) => path.startsWith('/api/search'))).toBe(true)
})
