import { execFile, spawn } from 'node:child_process'
import { cpSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'

import { createOtlpReceiver } from '../../src/testing/otlp-receiver.ts'
import { installPackages } from '../install-packages.ts'
import { cache } from './install.ts'
import { modelVariables, startWeatherModel } from './weather-model.ts'

const QUESTION = 'What is the weather in Oslo?'

/** Builds the example with Next.js, starts it, and asks its route. @returns What is wrong, one sentence each. */
export async function complaintsAboutNextjs(example: string, tarball: string): Promise<string[]> {
  const folder = install(example, tarball)
  await using model = await startWeatherModel()
  await using receiver = await createOtlpReceiver()
  const options = {
    cwd: folder,
    env: {
      PATH: process.env['PATH'],
      HOME: process.env['HOME'],
      NODE_ENV: 'production' as const,
      NEXT_TELEMETRY_DISABLED: '1',
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      ...modelVariables(model),
    },
  }
  const next = join(folder, 'node_modules/next/dist/bin/next')
  await promisify(execFile)(process.execPath, [next, 'build'], { ...options, timeout: 300_000 })
  const server = spawn(process.execPath, [next, 'start', '--hostname', '127.0.0.1', '--port', '0'], options)
  const ended = new Promise((resolve) => server.once('exit', resolve))
  try {
    const answer = await ask(await urlOf(server.stdout))
    const scores = () => receiver.spans.filter((span) => span.attributes['spanscore.tool_call_accuracy.score'] === 1)
    // The callback of `after` has run when the server has ended.
    server.kill('SIGTERM')
    await ended
    return [
      ...(answer === 'It is 4 degrees in Oslo.' ? [] : [`the route answers ${answer}`]),
      ...(scores().length === 1 ? [] : [`${scores().length} exported spans have the score 1, expected one`]),
    ]
  } finally {
    server.kill('SIGKILL')
  }
}

/** Next.js looks for packages in the project's own folder, so the example is copied next to its `node_modules`. */
function install(example: string, tarball: string): string {
  const folder = join(cache, 'nextjs')
  const manifest: { readonly dependencies: Readonly<Record<string, string>> } = JSON.parse(
    readFileSync(join(example, 'package.json'), 'utf8'),
  )
  installPackages(folder, { ...manifest, dependencies: { ...manifest.dependencies, spanscore: `file:${tarball}` } })
  for (const stale of ['.next', 'app', 'lib']) rmSync(join(folder, stale), { recursive: true, force: true })
  for (const part of ['app', 'lib', 'instrumentation.js']) {
    cpSync(join(example, part), join(folder, part), { recursive: true })
  }
  return folder
}

/** The address that `next start` prints. */
async function urlOf(output: NodeJS.ReadableStream): Promise<string> {
  for await (const line of createInterface({ input: output })) {
    const url = /http:\/\/127\.0\.0\.1:\d+/.exec(line)?.[0]
    if (url !== undefined) return url
  }
  throw new Error('next start ended before it printed its address')
}

async function ask(url: string): Promise<string> {
  const response = await fetch(`${url}/api/ask`, {
    method: 'POST',
    body: QUESTION,
    signal: AbortSignal.timeout(60_000),
  })
  return response.text()
}
