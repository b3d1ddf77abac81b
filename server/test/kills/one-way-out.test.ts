/** What the service sends: through proxies, with certificates, and with files that are replaced while it runs. */
import { execFile } from 'node:child_process'
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect } from 'node:tls'
import { promisify } from 'node:util'

import { afterAll, beforeAll, expect, it } from 'vitest'

import { Certificates } from '../certificates.ts'
import { MAIN, startProgram } from '../program.ts'
import { startFar, startProxy } from '../proxy.ts'
import { createSink } from '../sink.ts'
import { makeRun, post, toRequest, until } from '../traces.ts'

const folder = mkdtempSync(join(tmpdir(), 'spanscore-out-'))
const certificates = new Certificates(folder)
const at = (file: string) => certificates.path(file)

beforeAll(() => {
  for (const name of ['company', 'other']) certificates.authority(name)
  for (const name of ['far', 'client', 'next']) certificates.certificate(name, 'company')
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const ROOT = join(import.meta.dirname, '../../..')
const SPANSCORE = join(ROOT, 'cli/bin/spanscore.js')
const PORTS = ['--http-port', '0', '--grpc-port', '0', '--memory', '--settle', '0.2']
const READY = { ready: /OTLP\/HTTP on .*:(\d+) and OTLP\/gRPC on port (\d+)/ }

/** The name in the certificate of a port. */
const nameAt = (port: number): Promise<string> =>
  new Promise((resolve, reject) => {
    const socket = connect(
      { port, host: '127.0.0.1', rejectUnauthorized: false, ALPNProtocols: ['h2', 'http/1.1'] },
      () => {
        resolve(String(socket.getPeerCertificate().subject.CN))
        socket.destroy()
      },
    )
    socket.on('error', reject)
  })

it('sends scores, metrics, spans, annotations and questions to judges through the proxy, and names it', async () => {
  await using far = await startFar()
  await using proxy = await startProxy({ 'scores.test': far.port, 'judge.test': far.port, 'phoenix.test': far.port })
  const config = join(folder, 'judge.yaml')
  writeFileSync(
    config,
    'scorers: [tool_errors, { name: prompt_alignment, model: { id: a/b, url: "http://judge.test/v1" } }]\n',
  )
  const env = { HTTP_PROXY: proxy.url, HTTPS_PROXY: '', NO_PROXY: '10.0.0.0/8' }
  const args = ['--to', 'http://scores.test', '--phoenix', 'http://phoenix.test', '--forward', '--config', config]
  const program = await startProgram([...args, ...PORTS], { ...READY, env })
  expect(await post(Number(program.match[1]), toRequest(makeRun().spans))).toBe(200)
  const paths = ['scores.test/v1/logs', 'scores.test/v1/traces', 'phoenix.test/v1/span_annotations']
  const wanted = [...paths, 'judge.test/v1/chat/completions']
  await until(() => wanted.every((each) => proxy.seen.includes(each)), 'all requests')
  await program.stop()
  expect(proxy.seen).toContain('scores.test/v1/metrics')
  const said = program.lines.join('\n')
  expect(said).toMatch(/HTTP_PROXY: requests go through 127\.0\.0\.1:\d+\./)
  expect(said).toContain('NO_PROXY: 10.0.0.0/8 is not understood')
  expect(said).not.toContain('secret')
})

it('reaches a far end with TLS through the proxy, and programs on this machine without it', async () => {
  const tls = { cert: certificates.read('far.crt'), key: certificates.read('far.key') }
  await using far = await startFar(tls)
  await using sink = await createSink()
  await using proxy = await startProxy({ 'scores.test': far.port })
  const env = { HTTPS_PROXY: proxy.url, HTTP_PROXY: proxy.url, NO_PROXY: '' }
  for (const to of [['https://scores.test', '--to-ca', at('company.crt')], [sink.url]]) {
    const program = await startProgram(['--to', ...to, ...PORTS], { ...READY, env })
    expect(await post(Number(program.match[1]), toRequest(makeRun().spans))).toBe(200)
    await until(() => (to.length > 1 ? far.paths : sink.logs).length > 0, 'scores')
    await program.stop()
  }
  expect(new Set(proxy.seen)).toEqual(new Set(['CONNECT scores.test:443']))
})

it('asks judges of a trial on the page, and those of a canary, through the proxy', async () => {
  const tls = { cert: certificates.read('far.crt'), key: certificates.read('far.key') }
  // A refusal is not repeated.
  await using far = await startFar(tls, 400)
  await using proxy = await startProxy({ 'judge.test': far.port })
  const env = { HTTPS_PROXY: proxy.url, NO_PROXY: '', NODE_EXTRA_CA_CERTS: at('company.crt') }
  const config = join(folder, 'tried.yaml')
  const judge = '{ name: prompt_alignment, sample: 0, model: { id: a/b, url: "https://judge.test/v1" } }'
  writeFileSync(config, `scorers: [${judge}]\n`)
  const data = mkdtempSync(join(folder, 'tried-'))
  const args = ['--page', '--page-port', '0', '--data', data, '--config', config, '--settle', '0.2']
  const page = /The page is at (http:\/\/\S+?)\/#token=(\S+)/
  const program = await startProgram([...args, '--http-port', '0', '--grpc-port', '0'], { ready: page, env })
  const [, origin = '', token = ''] = program.match
  const ask = async (path: string, body?: unknown): Promise<string> => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const init = body === undefined ? { headers } : { method: 'POST', headers, body: JSON.stringify(body) }
    return await (await fetch(`${origin}${path}`, init)).text()
  }
  const taken = program.lines.map((line) => /Takes OTLP\/HTTP on .*?:(\d+)/.exec(line)?.[1]).find(Boolean)
  expect(await post(Number(taken), toRequest(makeRun().spans))).toBe(200)
  const runs = async (): Promise<readonly { readonly id: string }[]> => JSON.parse(await ask('/api/runs')).runs
  await expect.poll(runs, { timeout: 10_000 }).toHaveLength(1)
  const [found] = await runs()
  expect(proxy.seen).toEqual([])
  await ask('/api/trials', { scorer: 'prompt_alignment', runIds: [found?.id], capUsd: 1 })
  expect(far.paths).toEqual(['/v1/chat/completions'])
  const run: unknown = JSON.parse(await ask(`/api/run.json?id=${found?.id}`))
  await program.stop()

  const labelled = join(folder, 'labelled.jsonl')
  writeFileSync(labelled, JSON.stringify({ scorer: 'prompt_alignment', version: '1', label: 'pass', run }))
  const module = join(folder, 'canary.mjs')
  const scorers = join(ROOT, 'src/entries/scorers.ts')
  writeFileSync(
    module,
    `import { createPromptAlignmentScorerLLM } from '${scorers}'
export default { scorers: [createPromptAlignmentScorerLLM({ model: 'openai/gpt-5-mini' })] }
`,
  )
  const canary = promisify(execFile)(process.execPath, [SPANSCORE, 'canary', labelled, '--config', module], {
    env: { ...process.env, ...env, OPENAI_BASE_URL: 'https://judge.test/v1', OPENAI_API_KEY: 'scripted' },
  })
  await expect(canary).rejects.toMatchObject({
    code: 1,
    stdout: expect.stringContaining('no verdict on 1 labelled run'),
  })
  expect(far.paths).toEqual(['/v1/chat/completions', '/v1/chat/completions'])
  expect(new Set(proxy.seen)).toEqual(new Set(['CONNECT judge.test:443']))
})

it('says once what is wrong with a certificate and which option cures it, loses nothing, and goes on with the next one', async () => {
  const tls = {
    cert: certificates.read('far.crt'),
    key: certificates.read('far.key'),
    ca: certificates.read('company.crt'),
  }
  await using far = await startFar({ ...tls, requestCert: true })
  const ca = at('given-ca.crt')
  copyFileSync(at('other.crt'), ca)
  const to = `https://localhost:${far.port}`
  const args = ['--to', to, '--to-ca', ca, '--to-cert', at('client.crt'), '--to-key', at('client.key'), '--forward']
  const program = await startProgram([...args, ...PORTS], READY)
  const port = Number(program.match[1])
  expect(await post(port, toRequest(makeRun().spans))).toBe(200)
  const cure = 'its certificate is not trusted'
  const told = () => program.lines.filter((line) => line.includes(`Scores were not acknowledged: --to ${to}: ${cure}`))
  await until(() => told().length > 0, 'the cure')
  expect(told()[0]).toMatch(/\([A-Z_]+\): give its authority by --to-ca\.$/)
  expect(await (await fetch(`http://127.0.0.1:${port}/ready`)).text()).toContain(`"delivery":"--to ${to}: ${cure}`)
  await new Promise((resolve) => setTimeout(resolve, 3000))
  expect(told()).toHaveLength(1)
  copyFileSync(at('company.crt'), ca)
  await until(() => far.paths.includes('/v1/logs') && far.paths.includes('/v1/traces'), 'scores and spans', 25_000)
  await program.stop()
  expect(far.paths).toContain('/v1/metrics')
})

it('names the option that gives a certificate to a far end which needs one', async () => {
  const tls = {
    cert: certificates.read('far.crt'),
    key: certificates.read('far.key'),
    ca: certificates.read('company.crt'),
  }
  await using far = await startFar({ ...tls, requestCert: true })
  const args = ['--to', `https://localhost:${far.port}`, '--to-ca', at('company.crt')]
  const program = await startProgram([...args, ...PORTS], READY)
  expect(await post(Number(program.match[1]), toRequest(makeRun().spans))).toBe(200)
  await until(() => program.lines.some((line) => line.includes('give one by --to-cert and --to-key.')), 'the cure')
  await program.stop()
})

it('takes a changed certificate, key and token while it runs, keeps the one before a damaged one, and does not end at SIGHUP', async () => {
  await using sink = await createSink()
  const [cert, key, token] = [at('own.crt'), at('own.key'), at('token')]
  const put = (name: string): void => {
    copyFileSync(at(`${name}.crt`), cert)
    copyFileSync(at(`${name}.key`), key)
  }
  put('far')
  writeFileSync(token, 'the first of the tokens\n')
  const args = ['--to', sink.url, '--tls-cert', cert, '--tls-key', key, '--token-file', token]
  const program = await startProgram([...args, ...PORTS], READY)
  const names = () => Promise.all([nameAt(Number(program.match[1])), nameAt(Number(program.match[2]))])
  expect(await names()).toEqual(['far', 'far'])
  put('next')
  await expect.poll(names, { timeout: 5000 }).toEqual(['next', 'next'])
  writeFileSync(key, 'no key')
  await until(() => program.lines.some((line) => line.includes('The changed file cannot be used')), 'a line', 5000)
  expect(await names()).toEqual(['next', 'next'])
  const { request } = await import('node:https')
  const ready = (given: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const headers = { authorization: `Bearer ${given}` }
      const options = {
        host: '127.0.0.1',
        port: Number(program.match[1]),
        path: '/ready',
        headers,
        rejectUnauthorized: false,
      }
      request(options, (response) => {
        let text = ''
        response.on('data', (chunk) => (text += String(chunk))).on('end', () => resolve(text))
      })
        .on('error', reject)
        .end()
    })
  expect(await ready('the first of the tokens')).toContain('"files":["The changed file cannot be used')
  expect(await ready('the second of the tokens')).not.toContain('files')
  writeFileSync(token, 'the first of the tokens\nthe second of the tokens\n')
  program.child.kill('SIGHUP')
  await expect.poll(() => ready('the second of the tokens'), { timeout: 5000 }).toContain('files')
  expect(await ready('the first of the tokens')).toContain('files')
  expect(await program.stop()).toBe(0)
})

it('takes an IPv6 address with brackets, and prints it with them', async () => {
  await using sink = await createSink()
  const program = await startProgram(['--to', sink.url, '--host', '[::1]', ...PORTS], {
    ready: /(http:\/\/\[::1\]:\d+) and/,
  })
  expect((await fetch(`${program.match[1]}/health`)).status).toBe(200)
  await program.stop()
})

it('takes a second token of the page while it runs, and no short one at the start', async () => {
  const data = mkdtempSync(join(folder, 'data-'))
  const args = ['--page', '--page-port', '0', '--data', data, '--http-port', '0', '--grpc-port', '0']
  const program = await startProgram(args, { ready: /The page is at (http:\/\/\S+?)\/#token=(\S+)/ })
  const [, origin = '', first = ''] = program.match
  const statusWith = async (token: string) =>
    (await fetch(`${origin}/api/overview`, { headers: { authorization: `Bearer ${token}` } })).status
  const { stdout } = await promisify(execFile)(process.execPath, [MAIN, 'page-address', '--data', data])
  expect(stdout).toBe(`${origin}/#token=${first}\n`)
  const second = 'second'.padEnd(32, '-')
  expect([await statusWith(first), await statusWith(second)]).toEqual([200, 401])
  writeFileSync(join(data, 'page-token'), `${first}\n${second}\n`)
  await expect.poll(() => statusWith(second), { timeout: 5000 }).toBe(200)
  expect(await statusWith(first)).toBe(200)
  await program.stop()
  const later = await startProgram(args, {
    ready: /The page is at http:\S+ with the token in (\S+), which (\S+) prints/,
  })
  expect(later.match.slice(1)).toEqual([join(data, 'page-token'), 'page-address'])
  await later.stop()
  writeFileSync(join(data, 'page-token'), 'short\n')
  await expect(startProgram(args, { ready: /The page is at/ })).rejects.toThrow(
    /ended with 2: .*page-token: expected a token of at least 32 characters on one line, or on each of two; got one of 5 characters\./,
  )
})
