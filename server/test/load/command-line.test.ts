import { spawnSync } from 'node:child_process'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'

import { expect, it } from 'vitest'

const MAIN = new URL('../../dist/main.js', import.meta.url).pathname

function run(args: readonly string[], nodeOptions: readonly string[] = []): { status: number | null; stderr: string } {
  return spawnSync(process.execPath, [...nodeOptions, MAIN, ...args], { encoding: 'utf8' })
}

/** Makes a process believe that its Node.js has another version. */
function asNode(version: string): string {
  const code = `Object.defineProperty(process.versions,'node',{value:'${version}'});Object.defineProperty(process,'version',{value:'v${version}'})`
  return `--import=data:text/javascript,${encodeURIComponent(code)}`
}

it.each(['20.20.2', '22.9.0', '22.14.0'])('Node.js %s is refused with a message of one line', (version) => {
  const { status, stderr } = run(['--help'], [asNode(version)])
  expect(stderr.trim()).toBe(
    `spanscore-server: Expected Node.js 22.15 or later, got v${version}. Start with a newer Node.js.`,
  )
  expect(status).toBe(2)
})

it.each(['22.15.0', '24.1.0', '100.0.0'])('Node.js %s is accepted', (version) => {
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
])('%j is refused, and the error says what was expected', (args, message) => {
  const { status, stderr } = run(args)
  expect(stderr).toContain(message)
  expect(status).toBe(2)
})
