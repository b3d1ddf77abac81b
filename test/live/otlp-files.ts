import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { IncomingMessage } from 'node:http'
import { join } from 'node:path'
import { createGunzip } from 'node:zlib'

import { listenOnLoopback } from '../../src/testing/listen-on-loopback.ts'

/** An OTLP backend on loopback that writes what it gets as the Collector's file exporter does. */
export interface OtlpFiles extends AsyncDisposable {
  readonly url: string
  /** Writes what came since the last call to `<name>-traces.jsonl` and `<name>-logs.jsonl`; gives the requests. */
  take(folder: string, name: string): { readonly files: string[]; readonly traces: unknown[]; readonly logs: unknown[] }
}

/** Starts the backend. It reads OTLP/HTTP in JSON. */
export async function createOtlpFiles(): Promise<OtlpFiles> {
  let traces: unknown[] = []
  let logs: unknown[] = []
  const server = createServer((request, response) => {
    readBody(request)
      .then((text) => {
        if (request.url === '/v1/traces') traces.push(JSON.parse(text))
        else if (request.url === '/v1/logs') logs.push(JSON.parse(text))
        response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
      })
      .catch((error: unknown) => response.writeHead(400).end(String(error)))
  })
  const { origin, ...listening } = await listenOnLoopback(server, 0)
  return {
    url: origin,
    take(folder, name) {
      const taken = { traces, logs }
      traces = []
      logs = []
      const files = Object.entries(taken).flatMap(([signal, requests]) => {
        const file = join(folder, `${name.replaceAll(' ', '-')}-${signal}.jsonl`)
        writeFileSync(file, requests.map((request) => `${JSON.stringify(request)}\n`).join(''))
        return requests.length === 0 ? [] : [file]
      })
      return { files, ...taken }
    },
    ...listening,
  }
}

async function readBody(request: IncomingMessage): Promise<string> {
  const isCompressed = request.headers['content-encoding'] === 'gzip'
  let text = ''
  for await (const piece of (isCompressed ? request.pipe(createGunzip()) : request).setEncoding('utf8'))
    text += String(piece)
  return text
}
