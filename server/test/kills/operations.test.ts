import { execFile, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

import { afterAll, expect, it } from 'vitest'

import { startProgram } from '../program.ts'
import { createSink } from '../sink.ts'
import { makeRun, post, toRequest, until } from '../traces.ts'

const MAIN = new URL('../../dist/main.js', import.meta.url).pathname
const folder = mkdtempSync(join(tmpdir(), 'spanscore-operations-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const PORTS = ['--http-port', '0', '--grpc-port', '0', '--memory', '--settle', '0.2']

it('answers probes and Prometheus on a port of their own, without a token', async () => {
  await using sink = await createSink()
  const env = { SPANSCORE_SERVER_TOKEN: 'a token of senders' }
  const args = ['--to', sink.url, '--health-port', '0', ...PORTS]
  const program = await startProgram(args, { ready: /\/metrics on (http:\S+)\.$/, env })
  const [, origin = ''] = program.match
  expect(await (await fetch(`${origin}/health`)).json()).toEqual({ status: 'ok' })
  expect(await (await fetch(`${origin}/ready`)).json()).toEqual({ status: 'ready' })
  const metrics = await (await fetch(`${origin}/metrics`)).text()
  expect(metrics).toMatch(/^spanscore_service_held_spans\S* 0/m)
  expect(metrics).toContain('service_name="spanscore"')
  expect((await fetch(`${origin}/v1/traces`, { method: 'POST' })).status).toBe(404)
  await program.stop()
})

it('writes a line of JSON for each line, with the time, the level and the code of its notice', async () => {
  await using sink = await createSink()
  sink.status = 503
  const config = join(folder, 'warns.mjs')
  const warning = "process.emitWarning('a notice', { type: 'spanscore', code: 'SPANSCORE_BUDGET' })"
  const scorers = join(import.meta.dirname, '../../../src/entries/scorers.ts')
  const first = `import { createToolErrorsScorer } from '${scorers}'`
  writeFileSync(config, `${first}\n${warning}\nexport default { scorers: [createToolErrorsScorer()] }\n`)
  const args = ['--to', sink.url, '--config', config, '--log-format', 'json', ...PORTS]
  const program = await startProgram(args, { ready: /Takes OTLP\/HTTP on .*:(\d+) and/ })
  expect(await post(Number(program.match[1]), toRequest(makeRun().spans))).toBe(200)
  await until(() => program.lines.some((line) => line.includes('not acknowledged')), 'trouble')
  await program.stop()
  const lines = program.lines.map((line): unknown => JSON.parse(line))
  expect(lines).toContainEqual({
    time: expect.any(String),
    level: 'info',
    message: expect.stringMatching(/^Takes OTLP/),
  })
  expect(lines).toContainEqual({
    time: expect.any(String),
    level: 'warn',
    code: 'SPANSCORE_EXPORT_FAILED',
    message: expect.stringMatching(/^Scores were not ack/),
  })
  expect(lines).toContainEqual({
    time: expect.any(String),
    level: 'warn',
    code: 'SPANSCORE_BUDGET',
    message: 'a notice',
  })
})

it('writes what does not work alone, with --log-level warn', async () => {
  await using sink = await createSink()
  const check = async (...more: readonly string[]) => {
    const { stderr } = await promisify(execFile)(process.execPath, [MAIN, '--check', '--to', sink.url, ...more])
    return stderr
  }
  expect(await check()).toContain(sink.url)
  expect(await check('--log-level', 'warn')).toBe('')
})

it('says once that metrics are refused', async () => {
  await using sink = await createSink()
  sink.status = 404
  const program = await startProgram(['--to', sink.url, ...PORTS], { ready: /Takes OTLP\/HTTP on .*:(\d+) and/ })
  const told = () => program.lines.filter((line) => line.includes('Metrics were not taken at'))
  await until(() => told().length > 0, 'a line', 25_000)
  expect(told()[0]).toMatch(/\/v1\/metrics: HTTP 404$/)
  await new Promise((resolve) => setTimeout(resolve, 11_000))
  await program.kill()
  expect(told()).toHaveLength(1)
})

it('checks a configuration and the destination, scores nothing, and ends as a start would', async () => {
  await using sink = await createSink()
  const config = join(folder, 'spanscore.yaml')
  writeFileSync(config, 'scorers: [tool_errors]\n')
  const check = async (to: string, more: readonly string[] = [], env: Readonly<Record<string, string>> = {}) => {
    const args = ['--check', '--config', config, '--to', to, ...more, ...PORTS]
    const program = startProgram(args, { ready: /never/, env })
    return String(await program.catch((error: unknown) => error))
  }
  const good = await check(sink.url)
  expect(good).toContain('ended with 0')
  for (const path of ['/v1/traces', '/v1/logs', '/v1/metrics']) expect(good).toContain(`${sink.url}${path}: HTTP 200`)
  writeFileSync(config, 'scorers: [{ name: faithfulness, model: openai/gpt-5-mini }]\n')
  expect(await check(sink.url, [], { OPENAI_API_KEY: '', AI_GATEWAY_API_KEY: '' })).toMatch(
    /faithfulness: it will give no score\. .*OPENAI_API_KEY/,
  )
  sink.status = 401
  expect(await check(sink.url)).toMatch(/ended with 2.*HTTP 401/s)
  writeFileSync(config, 'scorers: [tool_erors]\n')
  const { status, stderr } = spawnSync(
    process.execPath,
    [MAIN, '--check', '--config', config, '--to', 'http://127.0.0.1:1'],
    { encoding: 'utf8' },
  )
  expect(stderr).toContain('Did you mean tool_errors?')
  expect(status).toBe(2)
})
