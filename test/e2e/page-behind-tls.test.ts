import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
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
import { findProgram } from '../../scripts/e2e-tools.ts'
import { eventually } from '../../scripts/stack.ts'

const NAME = 'page.example.com'

/** Debian has it in a folder that is on the PATH of root alone. */
const nginx = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin']
  .map((folder) => join(folder, 'nginx'))
  .find((file) => existsSync(file))
const signOn = findProgram('oauth2-proxy')
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

/** A configuration that docs/reference/page-proxy.md shows: the first one, or that with a sign-on. */
function documented(origin: string, index: 0 | 1): string {
  const page = readFileSync(join(import.meta.dirname, '../../docs/reference/page-proxy.md'), 'utf8')
  const block = [...page.matchAll(/```nginx\n(.*?)```/gs)][index]?.[1] ?? ''
  return block.replace('http://127.0.0.1:4320', origin)
}

/** nginx with TLS and these locations. */
async function startNginx(
  folder: string,
  locations: string,
  given?: number,
): Promise<{ readonly port: number } & AsyncDisposable> {
  const certificates = new Certificates(folder)
  certificates.authority('authority')
  certificates.certificate('page', 'authority')
  const port = given ?? (await freePort())
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
         ${locations}
       }
     }`,
  )
  const proxy = spawn(nginx ?? '', ['-p', folder, '-c', join(folder, 'nginx.conf')], { stdio: 'inherit' })
  return {
    port,
    async [Symbol.asyncDispose]() {
      proxy.kill()
      await once(proxy, 'exit')
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

const NAME_OF_USER = 'ana@company.example'

/** oauth2-proxy, with one user and a password, as it is for an issuer. */
async function startSignOn(folder: string): Promise<{ readonly port: number } & AsyncDisposable> {
  const port = await freePort()
  const users = join(folder, 'users')
  writeFileSync(users, `${NAME_OF_USER}:{SHA}${createHash('sha1').update('secret').digest('base64')}\n`)
  const options = {
    'http-address': `127.0.0.1:${port}`,
    'htpasswd-file': users,
    'cookie-secret': '0123456789abcdef'.repeat(2),
    // Another site's requests have the cookie, so that the page itself must refuse them.
    'cookie-samesite': 'none',
    'set-xauthrequest': 'true',
    'reverse-proxy': 'true',
    'email-domain': '*',
    upstream: 'static://202',
    provider: 'github',
    'client-id': 'page',
    'client-secret': 'secret',
  }
  const given = Object.entries(options).map(([name, value]) => `--${name}=${value}`)
  const child = spawn(signOn ?? '', given, { stdio: 'ignore' })
  return {
    port,
    async [Symbol.asyncDispose]() {
      child.kill()
      await once(child, 'exit')
    },
  }
}

async function sendRun(otlpUrl: string): Promise<void> {
  const sent = await fetch(`${otlpUrl}/v1/traces`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(toRequest(makeRun().spans)),
  })
  expect(sent.status).toBe(200)
}

describe.skipIf(!isHere)('behind nginx, which ends TLS', () => {
  it('people read, label and import in a browser, and other pages are refused', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'spanscore-tls-'))
    await using service = await startService(join(folder, 'data'), {}, ['--allowed-host', NAME])
    await using proxy = await startNginx(folder, documented(service.origin, 0))
    const { port } = proxy
    const browser = await launch(`--host-resolver-rules=MAP *.example.com 127.0.0.1`)
    try {
      await sendRun(service.otlpUrl)
      const context = await browser.newContext({ ignoreHTTPSErrors: true })
      const page = await context.newPage()
      const origin = `https://${NAME}:${port}`
      await eventually('the page', () =>
        page.goto(`${origin}/runs#token=${service.token}`).then(
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
    }
  })

  it.skipIf(signOn === undefined)(
    'people are signed in below a path without a token, what they open is in the log, and other pages cannot act for them',
    async () => {
      const folder = mkdtempSync(join(tmpdir(), 'spanscore-sign-on-'))
      await using proxy = await startSignOn(folder)
      const port = await freePort()
      const place = `https://${NAME}:${port}/spanscore/`
      const pagePort = String(await freePort())
      await using service = await startService(join(folder, 'data'), {}, [
        '--page-url',
        place,
        '--page-port',
        pagePort,
        '--page-user-header',
        'X-User',
      ])
      writeFileSync(join(folder, 'page-token.conf'), `proxy_set_header Authorization "Bearer ${service.token}";`)
      await using closing = new AsyncDisposableStack()
      closing.use(
        await startNginx(
          folder,
          documented(`http://127.0.0.1:${pagePort}`, 1).replaceAll('127.0.0.1:4180', `127.0.0.1:${proxy.port}`),
          port,
        ),
      )
      const browser = await launch('--host-resolver-rules=MAP *.example.com 127.0.0.1')
      try {
        await sendRun(service.otlpUrl)
        const page = await (await browser.newContext({ ignoreHTTPSErrors: true })).newPage()
        await eventually('the page', () =>
          page.goto(`${place}runs`).then(
            () => true,
            () => false,
          ),
        )
        await page.getByLabel('Username').fill(NAME_OF_USER)
        await page.getByLabel('Password').fill('secret')
        await page.getByRole('button', { name: /^sign in$/i }).click()
        await page.getByText('Weather in Oslo?').first().click()
        await page.waitForURL(`${place}runs/*`)
        const runId = decodeURIComponent(page.url().split('/').at(-1) ?? '')
        await page.getByRole('heading', { name: 'Weather in Oslo?' }).first().waitFor()
        await page.reload()
        await page.getByRole('navigation', { name: 'Views' }).getByText('Scores').click()
        await page.waitForURL(`${place}scores*`)
        await page.getByRole('heading', { name: 'Scores over time' }).waitFor()
        const audit = () => service.lines.filter((line) => line.includes('audit: '))
        expect(audit()).toEqual([expect.stringContaining(`audit: ${NAME_OF_USER} opened run ${runId}`)])
        // Another site's form and script, whose requests have the cookie.
        await page.route('https://evil.example.com/**', (route) =>
          route.fulfill({
            contentType: 'text/html',
            body: `<form method="post" action="${place}api/labels/import" enctype="text/plain"><button>Go</button></form>`,
          }),
        )
        await page.goto('https://evil.example.com/')
        const readable = await page.evaluate(
          (url) =>
            fetch(url, { credentials: 'include' }).then(
              (response) => response.status,
              () => 'refused',
            ),
          `${place}api/overview`,
        )
        expect(readable).toBe('refused')
        const [answered] = await Promise.all([
          page.waitForResponse((response) => response.url().endsWith('/api/labels/import')),
          page.getByText('Go').click(),
        ])
        expect(answered.status()).toBe(403)
        expect(audit()).toHaveLength(1)
      } finally {
        await browser.close()
      }
    },
  )
})
