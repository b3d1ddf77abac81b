import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

import { otlp } from './made-run.ts'

/** The built service in a process of its own, as users start it. */
export interface ServiceProcess extends AsyncDisposable {
  /** The address, with its token. */
  readonly pageUrl: string
  readonly origin: string
  readonly token: string
  readonly otlpUrl: string
  /** What it has printed. */
  readonly lines: readonly string[]
  send(spans: readonly unknown[], service?: string): Promise<void>
  read<Answer>(path: string): Promise<Answer>
  /** Pauses the process, which keeps its connections, or resumes it. */
  signal(name: 'SIGSTOP' | 'SIGCONT'): void
}

export const main = join(import.meta.dirname, '../../dist/main.js')

export async function startService(
  folder: string,
  environment: Record<string, string>,
  options: readonly string[] = [],
): Promise<ServiceProcess> {
  const child = spawn(
    process.execPath,
    [
      main,
      '--page',
      '--page-port',
      '0',
      '--http-port',
      '0',
      '--grpc-port',
      '0',
      '--data',
      folder,
      '--settle',
      '0.5',
      ...options,
    ],
    { env: { ...process.env, ...environment }, stdio: ['ignore', 'ignore', 'pipe'] },
  )
  const lines: string[] = []
  const addresses = await new Promise<readonly [page: string, otlp: string]>((resolve, reject) => {
    createInterface({ input: child.stderr }).on('line', (line) => {
      lines.push(line)
      const page = /The page is at (\S+)/.exec(line)?.[1]
      const takes = lines.map((each) => /OTLP\/HTTP on (\S+)/.exec(each)?.[1]).find((each) => each !== undefined)
      if (page !== undefined && takes !== undefined) resolve([page, takes])
    })
    child.once('exit', () => reject(new Error(lines.join('\n'))))
  })
  const [page, otlpUrl] = addresses
  const { origin } = new URL(page)
  // It is printed at the first start alone.
  const token = readFileSync(join(folder, 'page-token'), 'utf8').trim()
  const pageUrl = `${origin}/#token=${token}`
  return {
    pageUrl,
    origin,
    token,
    otlpUrl,
    lines,
    send: async (spans, service = 'bicycle-shop') => {
      const response = await fetch(`${otlpUrl}/v1/traces`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(otlp(spans, service)),
      })
      if (response.status !== 200) throw new Error(`The service answered ${response.status}: ${await response.text()}`)
    },
    read: async <Answer>(path: string) => {
      const response = await fetch(origin + path, { headers: { authorization: `Bearer ${token}` } })
      return (await response.json()) as Answer
    },
    signal: (name) => child.kill(name),
    [Symbol.asyncDispose]: async () => {
      const ended = new Promise((resolve) => child.once('exit', resolve))
      child.kill('SIGTERM')
      await ended
    },
  }
}
