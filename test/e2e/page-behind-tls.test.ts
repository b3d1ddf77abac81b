import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'

import { describe, expect, it } from 'vitest'

import { CHROMIUM, launch } from '../../server/test/browser/browser.ts'
import { startService } from '../../server/test/browser/service-process.ts'
import { Certificates } from '../../server/test/certificates.ts'
import { makeRun, toRequest } from '../../server/test/traces.ts'
import { eventually } from '../../scripts/stack.ts'

const NAME = 'page.example.com'

/** Debian has it in a folder that is on the PATH of root alone. */
const nginx = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin']
  .map((folder) => join(folder, 'nginx'))
  .find((file) => existsSync(file))
const isHere = nginx !== undefined && existsSync(CHROMIUM)
if (!isHere)
  console.log('Not run: the page behind TLS needs nginx and Chromium (apt-get install nginx-light chromium).')

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  return typeof address === 'object' && address !== null ? address.port : 0
}

/** The configuration that docs/page.md shows. */
function documented(origin: string): string {
  const page = readFileSync(join(import.meta.dirname, '../../docs/page.md'), 'utf8')
  const block = /```nginx\n(.*?)```/s.exec(page)?.[1] ?? ''
  return block.replace('http://127.0.0.1:4320', origin)
}

describe.skipIf(!isHere)('behind nginx, which ends TLS', () => {
  it('people read, label and import in a browser, and other pages are refused', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'spanscore-tls-'))
    const certificates = new Certificates(folder)
    certificates.authority('authority')
    certificates.certificate('page', 'authority')
    await using service = await startService(join(folder, 'data'), {}, ['--allowed-host', NAME])
    const port = await freePort()
    const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    writeFileSync(
      join(folder, 'nginx.conf'),
      `daemon off; pid ${folder}/nginx.pid; error_log stderr; events {}
       http {
         access_log off;
         ${temporary.map((name) => `${name}_temp_path ${folder}/${name};`).join(' ')}
         server {
           listen 127.0.0.1:${port} ssl;
           ssl_certificate ${certificates.path('page.crt')};
           ssl_certificate_key ${certificates.path('page.key')};
           ${documented(service.origin)}
         }
       }`,
    )
    const proxy = spawn(nginx ?? '', ['-p', folder, '-c', join(folder, 'nginx.conf')], { stdio: 'inherit' })
    const browser = await launch(`--host-resolver-rules=MAP *.example.com 127.0.0.1`)
    try {
      const sent = await fetch(`${service.otlpUrl}/v1/traces`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(toRequest(makeRun().spans)),
      })
      expect(sent.status).toBe(200)
      const context = await browser.newContext({ ignoreHTTPSErrors: true })
      const page = await context.newPage()
      const origin = `https://${NAME}:${port}`
      await eventually('the page', () =>
        page.goto(`${origin}/#token=${service.token}`).then(
          () => true,
          () => false,
        ),
      )
      // The list follows the service through the proxy.
      await page.getByText('Weather in Oslo?').waitFor()
      const statusOf = (path: string, body: unknown) =>
        page.evaluate(
          async ([url, token, json]) => {
            const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
            const response = await fetch(url, { method: 'POST', headers, body: json }).catch(() => undefined)
            return response?.status
          },
          [path, service.token, JSON.stringify(body)] as const,
        )
      const draw = { scorer: 'loop', version: 'v1', count: 1 }
      expect(await statusOf('/api/labels/draw', draw)).toBe(200)
      expect(await statusOf('/api/labels/import', { lines: '' })).toBe(200)
      // The same server by another name is another page.
      await page.goto(`https://other.example.com:${port}/`)
      expect(await statusOf(`${origin}/api/labels/draw`, draw)).toBeUndefined()
    } finally {
      await browser.close()
      proxy.kill()
      await once(proxy, 'exit')
      rmSync(folder, { recursive: true, force: true })
    }
  })
})
