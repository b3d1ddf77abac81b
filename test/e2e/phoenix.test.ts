/** Scores as annotations in Phoenix. */
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll, beforeAll, expect, it } from 'vitest'

import { startProcess } from '../../server/test/kills/server-process.ts'
import type { ServerProcess } from '../../server/test/kills/server-process.ts'
import { parseJsonRequest, toProtobuf } from '../../server/src/receive/json-to-protobuf.ts'
import { makeRun, toRequest } from '../../server/test/traces.ts'
import { pythonWithPackages } from './python.ts'
import { eventually, freePort } from '../../scripts/stack.ts'

const folder = mkdtempSync(join(tmpdir(), 'spanscore-phoenix-'))
let phoenix: ChildProcess | undefined
let url: string
let server: ServerProcess | undefined

beforeAll(async () => {
  const bin = await pythonWithPackages('phoenix.txt')
  const [port, grpcPort] = await Promise.all([freePort(), freePort()])
  url = `http://127.0.0.1:${port}`
  phoenix = spawn(join(bin, 'phoenix'), ['serve'], {
    env: {
      ...process.env,
      PHOENIX_HOST: '127.0.0.1',
      PHOENIX_PORT: String(port),
      PHOENIX_GRPC_PORT: String(grpcPort),
      PHOENIX_WORKING_DIR: folder,
      PHOENIX_TELEMETRY_ENABLED: 'false',
    },
    stdio: 'ignore',
  })
  await eventually('Phoenix is ready', async () => (await fetch(`${url}/healthz`)).ok, 300_000)
  const settings = ['--settle', '1', '--data', join(folder, 'data')]
  server = await startProcess(['--to', url, '--phoenix', url, '--forward', ...settings])
}, 600_000)

afterAll(async () => {
  await server?.stop()
  if (phoenix?.kill('SIGKILL') === true) await once(phoenix, 'exit')
  rmSync(folder, { recursive: true, force: true })
})

interface Annotation {
  readonly name: string
  readonly annotator_kind: string
  readonly identifier: string
  readonly result: { readonly score: number; readonly label: string; readonly explanation: string | null }
  readonly metadata: Readonly<Record<string, unknown>>
}

async function annotationsOf(spanId: string): Promise<readonly Annotation[]> {
  const response = await fetch(`${url}/v1/projects/default/span_annotations?span_ids=${spanId}`)
  // Phoenix does not know the span yet.
  if (response.status === 404) return []
  const { data = [] } = (await response.json()) as { data?: readonly Annotation[] }
  return data
}

/** Sends spans as protobuf, the only form that Phoenix takes: the service forwards it unchanged. */
async function send(spans: readonly unknown[]): Promise<void> {
  const body = toProtobuf(parseJsonRequest(Buffer.from(JSON.stringify(toRequest(spans)))))
  const response = await fetch(`http://127.0.0.1:${server?.httpPort}/v1/traces`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-protobuf' },
    body: new Uint8Array(body),
  })
  expect(response.status).toBe(200)
}

it('shows the scores of a run as annotations of its agent span, and those of a later revision in their place', async () => {
  const run = makeRun({ toolFails: true })
  const [late, ...rest] = run.spans
  await send(rest)
  const first = await eventually(
    'annotations',
    async () => {
      const found = await annotationsOf(run.agentSpanId)
      return found.some(({ name }) => name === 'tool_errors') && found
    },
    60_000,
  )
  expect(first.find(({ name }) => name === 'tool_errors')).toMatchObject({
    annotator_kind: 'CODE',
    identifier: 'spanscore',
    result: { score: 1, label: 'fail', explanation: expect.stringContaining('failed') },
    metadata: { 'spanscore.revision': 2, 'spanscore.score.better': 'lower' },
  })

  await send([late])
  const second = await eventually(
    'annotations of the next revision',
    async () => {
      const found = await annotationsOf(run.agentSpanId)
      return found.some(({ metadata }) => metadata['spanscore.revision'] === 3) && found
    },
    60_000,
  )
  expect(second.filter(({ name }) => name === 'tool_errors')).toHaveLength(1)
})
