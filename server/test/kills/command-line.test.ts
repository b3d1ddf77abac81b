import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { Certificates } from '../certificates.ts'
import { startProgram } from '../program.ts'

const MAIN = new URL('../../dist/main.js', import.meta.url).pathname

function run(args: readonly string[], nodeOptions: readonly string[] = []): { status: number | null; stderr: string } {
  return spawnSync(process.execPath, [...nodeOptions, MAIN, ...args], { encoding: 'utf8', timeout: 30_000 })
}

/** Makes a process believe that its Node.js has another version. */
function asNode(version: string): string {
  const code = `Object.defineProperty(process.versions,'node',{value:'${version}'});Object.defineProperty(process,'version',{value:'v${version}'})`
  return `--import=data:text/javascript,${encodeURIComponent(code)}`
}

it.each(['20.20.2', '22.9.0', '22.20.0'])('Node.js %s is refused with a message of one line', (version) => {
  const { status, stderr } = run(['--help'], [asNode(version)])
  expect(stderr.trim()).toBe(
    `spanscore-server: Expected Node.js 22.21 or later, got v${version}. Start with a newer Node.js.`,
  )
  expect(status).toBe(2)
})

it.each(['22.21.0', '24.1.0', '100.0.0'])('Node.js %s is accepted', (version) => {
  expect(run(['--version'], [asNode(version)])).toMatchObject({ status: 0, stderr: '' })
})

it('a port that is in use is refused, and the error names its option', async () => {
  const other = createServer()
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
  const port = String((other.address() as AddressInfo).port)
  for (const [option, free] of [
    ['--http-port', '--grpc-port'],
    ['--grpc-port', '--http-port'],
  ] as const) {
    const { status, stderr } = run(['--memory', '--to', 'http://127.0.0.1:1', option, port, free, '0'])
    expect(stderr).toContain(`${option} ${port}: expected a port that is free, got one that another program uses.`)
    expect(status).toBe(2)
  }
  other.close()
})

it.each([
  [[], 'Expected --to with the endpoint that scores go to, or --page to look at them here; got neither.'],
  [['--to', 'nope'], 'Expected a URL that begins with http:// or https://.'],
  [['--role', 'worker', '--to', 'http://127.0.0.1:1'], '--role worker: expected --brokers host:port,…, got none.'],
  [['--page', '--forward'], '--forward: expected --to too, where spans are passed on to.'],
  [['--page', '--tls-cert', 'cert.pem'], 'Expected both --tls-cert and --tls-key, got one of them.'],
  [['--setle', '1'], 'Did you mean --settle?'],
  [
    ['--to', 'http://127.0.0.1:1/v1/traces'],
    '--to http://127.0.0.1:1/v1/traces: expected the endpoint without /v1/traces, got one with it.',
  ],
  [['--to', 'http://127.0.0.1:1', '--http-port', '70000'], 'Expected a port from 0 to 65535.'],
  [['--to', 'http://user:secret@127.0.0.1:1'], '--to: expected an endpoint without user, password, query and fragment'],
  [['--to', 'http://127.0.0.1:1?key=secret'], '--to: expected an endpoint without user, password, query and fragment'],
  [
    ['--to', 'http://127.0.0.1:1', '--phoenix', 'http://user:secret@127.0.0.1:1'],
    '--phoenix: expected an address without user and password',
  ],
  [['--to', 'http://127.0.0.1:1', '--header', 'a b=c'], '--header a b: expected a name and a value that HTTP allows'],
  [['--to', 'http://127.0.0.1:1', '--header', 'a=c\nd'], '--header a: expected a name and a value that HTTP allows'],
  [['--page', '--data', ''], '--data: expected the path of a folder, got an empty one.'],
  [
    ['--page', '--data', '~/spans'],
    '--data: expected the path of a folder, got ~/spans, which the shell has not replaced',
  ],
  [['--page', '--max-days', '0'], 'Expected a number above 0.'],
  [['--role', 'worker', '--to', 'http://127.0.0.1:1', '--brokers', ''], '--brokers: expected host:port,…, got "".'],
])('%j is refused, and the error says what was expected', (args, message) => {
  const { status, stderr } = run(args)
  expect(stderr).toContain(message)
  expect(status).toBe(2)
})

describe('files', () => {
  const folder = mkdtempSync(join(tmpdir(), 'spanscore-files-'))
  const certificates = new Certificates(folder)
  const start = ['--to', 'http://127.0.0.1:1', '--memory', '--http-port', '0', '--grpc-port', '0']

  beforeAll(() => {
    certificates.authority('one')
    certificates.authority('other')
    writeFileSync(join(folder, 'empty'), '\n')
    writeFileSync(join(folder, 'text'), 'This is no certificate.')
    writeFileSync(join(folder, 'damaged'), certificates.read('one.crt').replace('MII', 'MIJ'))
  })

  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  it.each([
    [
      '--token-file empty',
      /--token-file .*empty: expected a token of at least 16 characters on one line, or on each of two; got an empty one\.$/,
    ],
    [
      '--tls-cert one.crt --tls-key other.key',
      /--tls-key .*other\.key: expected the key of the certificate in .*one\.crt/,
    ],
    [
      '--tls-cert one.crt --tls-key one.crt',
      /--tls-key .*one\.crt: expected a private key in PEM that needs no password/,
    ],
    [
      '--tls-cert text --tls-key one.key',
      /--tls-cert .*text: expected a certificate in PEM, got a file without one\.$/,
    ],
    [
      '--tls-cert damaged --tls-key one.key',
      /--tls-cert .*damaged: expected a certificate in PEM, got one that is damaged/,
    ],
    // With an empty one, Node.js would accept each certificate that an authority of the system has signed.
    ['--tls-cert one.crt --tls-key one.key --tls-client-ca empty', /--tls-client-ca .*: expected a certificate in PEM/],
    ['--tls-cert one.crt --tls-key one.key --tls-client-ca text', /--tls-client-ca .*: expected a certificate in PEM/],
    [
      '--role=worker --brokers=127.0.0.1:1 --kafka-tls --kafka-ca empty',
      /--kafka-ca .*empty: expected a certificate in PEM, got a file without one\.$/,
    ],
    [
      '--role=worker --brokers=127.0.0.1:1 --kafka-tls --kafka-cert one.crt --kafka-key other.key',
      /--kafka-key .*other\.key: expected the key of the certificate in .*one\.crt/,
    ],
    [
      '--role=worker --brokers=127.0.0.1:1 --kafka-tls --kafka-cert one.crt',
      /Expected both --kafka-cert and --kafka-key, got one of them\.$/,
    ],
    ['--role=worker --brokers=127.0.0.1:1 --kafka-ca one.crt', /--kafka-ca: expected --kafka-tls too\.$/],
    [
      '--role=worker --brokers=127.0.0.1:1 --kafka-password-file text',
      /--kafka-password-file: expected --kafka-sasl too\.$/,
    ],
    [
      '--role=worker --brokers=127.0.0.1:1 --kafka-sasl=PLAIN --kafka-user=worker --kafka-password-file empty',
      /--kafka-sasl: expected --kafka-user and a password, got less\.$/,
    ],
    ['--to-ca empty', /--to-ca .*empty: expected a certificate in PEM, got a file without one\.$/],
  ])('%s: they are refused, and the error says what was expected', (options, message) => {
    const args = options.split(' ').map((text) => (text.startsWith('--') ? text : join(folder, text)))
    const { status, stderr } = run([...start, ...args])
    expect(stderr.trim()).toMatch(message)
    expect(status).toBe(2)
  })

  it('a certificate that has expired is reported', async () => {
    certificates.expired('old')
    const program = await startProgram(
      [...start, '--tls-cert', join(folder, 'old.crt'), '--tls-key', join(folder, 'old.key')],
      { ready: /Takes OTLP/ },
    )
    await program.stop()
    expect(program.lines.join('\n')).toMatch(/--tls-cert .*old\.crt: the certificate of CN=old expired on /)
  })
})

it('a signal ends a worker that still waits for brokers', async () => {
  const child = spawn(process.execPath, [
    MAIN,
    '--role',
    'worker',
    '--to',
    'http://127.0.0.1:1',
    '--brokers',
    '127.0.0.1:1',
  ])
  const ended = once(child, 'exit')
  // It handles signals from its first moment on, and waits for 15 s.
  await new Promise((resolve) => setTimeout(resolve, 3000))
  child.kill('SIGTERM')
  expect(await ended).toEqual([1, null])
})
