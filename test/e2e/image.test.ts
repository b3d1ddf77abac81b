/**
 * The image of the service, built without a container engine: `buildah --isolation chroot`, on a base of Debian with the project's own Node.js in
 * place of `node:24-slim`. It is started as the pod of the manifest (`pod.ts`). Its own health check is not run.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { gunzipSync } from 'node:zlib'

import { expect, it } from 'vitest'

import { eventually, freePort } from '../../scripts/stack.ts'
import { missingForPod, startPod } from './pod.ts'

const BASE = `localhost/spanscore-e2e-base:${process.version}`
const IMAGE = 'localhost/spanscore-e2e-server'

const missing = ['buildah', 'mmdebstrap'].filter((name) => spawnSync(name, ['--version']).error !== undefined)
const needs =
  missing.length > 0
    ? ` (not run: apt-get install ${missing.join(' ')})`
    : missingForPod === undefined
      ? ''
      : ` (not run: it needs ${missingForPod})`

function buildah(...args: readonly string[]): string {
  return execFileSync('buildah', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] }).trim()
}

/** Debian with Node.js, npm and the user `node`, as `node:24-slim` has them. */
function makeBase(): void {
  if (buildah('images', '--quiet', '--filter', `reference=${BASE}`) !== '') return
  const folder = mkdtempSync(join(tmpdir(), 'spanscore-base-'))
  try {
    const put = (name: string, text: string, mode = 0o644): string => {
      writeFileSync(join(folder, name), text, { mode })
      return join(folder, name)
    }
    const packages = 'base-files,libc6,libstdc++6,libgcc-s1,ca-certificates,coreutils,dash'
    const tar = join(folder, 'base.tar')
    const source = 'deb http://deb.debian.org/debian stable main'
    execFileSync('mmdebstrap', ['--quiet', '--variant=extract', `--include=${packages}`, 'stable', tar, source])
    const npm = dirname(
      dirname(realpathSync(execFileSync('sh', ['-c', 'command -v npm'], { encoding: 'utf8' }).trim())),
    )
    const container = buildah('from', 'scratch')
    buildah('add', '--quiet', container, tar, '/')
    const files = {
      [process.execPath]: '/usr/local/bin/node',
      [npm]: '/usr/local/lib/node_modules/npm',
      [put('npm', '#!/bin/sh\nexec node /usr/local/lib/node_modules/npm/bin/npm-cli.js "$@"\n', 0o755)]:
        '/usr/local/bin/npm',
      [put('passwd', 'root:x:0:0::/root:/bin/sh\nnode:x:1000:1000::/home/node:/bin/sh\n')]: '/etc/passwd',
      [put('group', 'root:x:0:\nnode:x:1000:\n')]: '/etc/group',
    }
    for (const [from, to] of Object.entries(files)) buildah('copy', '--quiet', container, from, to)
    buildah('config', '--env', 'PATH=/usr/local/bin:/usr/bin:/bin', container)
    // A network with a certificate authority of its own needs it in the container too.
    const authority = process.env['NODE_EXTRA_CA_CERTS']
    if (authority !== undefined) {
      buildah('copy', '--quiet', container, authority, authority)
      buildah('config', '--env', `NODE_EXTRA_CA_CERTS=${authority}`, container)
    }
    buildah('commit', '--quiet', '--rm', container, BASE)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const text = (key: string, stringValue: string) => ({ key, value: { stringValue } })
const message = (role: string, content: string) => JSON.stringify([{ role, parts: [{ type: 'text', content }] }])

/** Runs of an agent with one tool, as OTLP. */
function agentRuns(count: number): string {
  const spans = Array.from({ length: count }, agentRun).flat()
  return JSON.stringify({
    resourceSpans: [{ resource: { attributes: [] }, scopeSpans: [{ scope: { name: 'image-test' }, spans }] }],
  })
}

function agentRun() {
  const endMs = Date.now()
  const times = { kind: 1, startTimeUnixNano: `${endMs - 1000}000000`, endTimeUnixNano: `${endMs}000000` }
  const traceId = randomBytes(16).toString('hex')
  const spanId = randomBytes(8).toString('hex')
  const agent = {
    traceId,
    spanId,
    name: 'invoke_agent weather',
    ...times,
    attributes: [
      text('gen_ai.operation.name', 'invoke_agent'),
      text('gen_ai.agent.name', 'weather'),
      text('gen_ai.input.messages', message('user', 'Is it warm in Oslo?')),
      text('gen_ai.output.messages', message('assistant', 'No, it is 4 °C.')),
    ],
  }
  const tool = {
    traceId,
    spanId: randomBytes(8).toString('hex'),
    parentSpanId: spanId,
    name: 'execute_tool thermometer',
    ...times,
    attributes: [text('gen_ai.operation.name', 'execute_tool'), text('gen_ai.tool.name', 'thermometer')],
  }
  return [tool, agent]
}

it.skipIf(needs !== '')(
  `the image is built, starts as the pod of the manifest, and scores a burst of runs within its memory${needs}`,
  { timeout: 1_200_000 },
  async () => {
    makeBase()
    const isolation = ['--isolation', 'chroot']
    buildah(
      'build',
      '--quiet',
      ...isolation,
      '--build-arg',
      `BASE=${BASE}`,
      '-f',
      'server/Dockerfile',
      '-t',
      IMAGE,
      '.',
    )
    const { OCIv1 } = JSON.parse(buildah('inspect', '--type', 'image', IMAGE)) as {
      OCIv1: { config: { Entrypoint: string[]; User: string } }
    }
    expect(OCIv1.config.User).toBe('node')

    const [http, grpc, page, health, to] = await Promise.all([
      freePort(),
      freePort(),
      freePort(),
      freePort(),
      freePort(),
    ])
    let received = ''
    const backend = createServer(async (request, response) => {
      const body = await buffer(request)
      received += (request.headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body).toString('latin1')
      response.setHeader('content-type', 'application/x-protobuf').end()
    }).listen(to, '127.0.0.1')
    const container = buildah('from', IMAGE)
    // The last one of an option that is given twice counts.
    const own = { to: `http://127.0.0.1:${to}`, host: '127.0.0.1', settle: 1, 'health-port': health }
    const ports = { 'http-port': http, 'grpc-port': grpc, 'page-port': page }
    const options = Object.entries({ ...own, ...ports }).map(([name, value]) => `--${name}=${value}`)
    const pod = startPod(buildah('mount', container), OCIv1.config.Entrypoint, options)
    const isOk = (path: string) =>
      fetch(`http://127.0.0.1:${health}${path}`).then(
        ({ ok }) => ok,
        () => false,
      )
    try {
      await eventually('readiness', () => isOk('/ready'))
      const headers = { 'content-type': 'application/json', authorization: `Bearer ${pod.token}` }
      for (let request = 0; request < 45; request++) {
        const body = agentRuns(100)
        const { status } = await fetch(`http://127.0.0.1:${http}/v1/traces`, { method: 'POST', headers, body })
        expect(status).toBe(200)
      }
      await eventually('the scores', async () => received.split('tool_errors').length > 4500)
      expect(await isOk('/health')).toBe(true)
      expect(pod.peakBytes()).toBeLessThan(pod.limitMiB * 1024 * 1024)
    } finally {
      expect(await pod.stop()).toBe(0)
      buildah('rm', container)
      backend.close()
    }
  },
)
