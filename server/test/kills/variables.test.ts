import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll, expect, it } from 'vitest'

import { startProgram } from '../program.ts'
import { createSink } from '../sink.ts'
import { makeRun, post, toRequest, until } from '../traces.ts'

const MAIN = new URL('../../dist/main.js', import.meta.url).pathname
const folder = mkdtempSync(join(tmpdir(), 'spanscore-variables-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const PORTS = ['--http-port', '0', '--grpc-port', '0', '--memory']

it('variables replace options of the file, also after it has changed, and say what is not used', async () => {
  await using sink = await createSink()
  const config = join(folder, 'spanscore.yaml')
  writeFileSync(config, 'scorers: [tool_errors]\nemit: { explanations: all }\n')
  const env = {
    SPANSCORE_EMIT_EXPLANATIONS: 'none',
    SPANSCORE_MEMORY_BYTES: '1',
    SPANSCORE_SERVICE_PORT_HTTP: '4318',
    SPANSCORE_SERVER_PORT: 'tcp://10.0.0.7:4318',
    SPANSCORE_HTTP_PORT: '4318',
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1',
    OTEL_SERVICE_NAME: 'mine',
    OTEL_RESOURCE_ATTRIBUTES: 'team=agents,k8s.pod.name=one',
  }
  const args = ['--to', sink.url, '--config', config, '--settle', '0.2', ...PORTS]
  const program = await startProgram(args, { ready: /OTLP\/HTTP on .*:(\d+) and/, env })
  const send = () => post(Number(program.match[1]), toRequest(makeRun({ toolFails: true }).spans))
  const latest = () => sink.logs.at(-1)?.attributes ?? {}
  expect(await send()).toBe(200)
  await until(() => latest()['gen_ai.evaluation.name'] === 'tool_errors', 'a score')
  expect(latest()).not.toHaveProperty('gen_ai.evaluation.explanation')
  writeFileSync(config, 'scorers: [{ name: tool_errors, id: changed }]\nemit: { explanations: all }\n')
  await until(() => program.lines.some((line) => line.includes('Scores with changed')), 'the change')
  expect(await send()).toBe(200)
  await until(() => latest()['gen_ai.evaluation.name'] === 'changed', 'a score')
  expect(latest()).not.toHaveProperty('gen_ai.evaluation.explanation')
  const unused = program.lines.filter((line) => line.includes('is not used'))
  expect(unused.map((line) => /: (\S+) is not used: /.exec(line)?.[1])).toEqual([
    'OTEL_EXPORTER_OTLP_ENDPOINT',
    'OTEL_SERVICE_NAME',
    'SPANSCORE_HTTP_PORT',
    'SPANSCORE_MEMORY_BYTES',
  ])
  await program.stop()
  const own = sink.requests.filter(({ path }) => path === '/v1/metrics').map(({ body }) => body.toString('latin1'))
  expect(own.some((body) => body.includes('k8s.pod.name') && body.includes('service.version'))).toBe(true)
  expect(own.some((body) => body.includes('mine'))).toBe(false)
})

it.each([
  ['SPANSCORE_STRIP_CONTENT', 'yes', 'SPANSCORE_STRIP_CONTENT: expected true or false, got'],
  ['SPANSCORE_BUDGET_USD_PER_DAY', 'ten', 'SPANSCORE_BUDGET_USD_PER_DAY: expected a number'],
  ['OTEL_EXPORTER_OTLP_PROTOCOL', 'grpc', 'OTEL_EXPORTER_OTLP_PROTOCOL: expected http/protobuf, got grpc.'],
])('%s=%s stops the start', (name, value, message) => {
  const { status, stderr } = spawnSync(process.execPath, [MAIN, '--to', 'http://127.0.0.1:1', ...PORTS], {
    encoding: 'utf8',
    timeout: 30_000,
    env: { ...process.env, [name]: value },
  })
  expect(stderr).toContain(message)
  expect(status).toBe(2)
})
