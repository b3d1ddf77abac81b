/**
 * What the service costs: spans that are received and stored each second, and spans that are scored for each second of processor
 * time, each beside decoding the same bytes alone in the same run. `npm run bench:server`, with `--spans 200000` for more.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { gzipSync } from 'node:zlib'

import { createProtobufDecoder } from 'spanscore/engine'

import { startServer } from '../src/start.ts'
import { serverOptions } from '../test/server-options.ts'
import { createSink } from '../test/sink.ts'
import { until } from '../test/traces.ts'
import { requestsOf } from './requests.ts'

const { values } = parseArgs({ options: { spans: { type: 'string', default: '60000' } } })
const spans = Number(values.spans)

interface Row {
  readonly name: string
  readonly perSecond: number
  readonly perCpuSecond: number
  readonly decodingPerCpuSecond: number
  readonly heapMiB: number
}

const rows: Row[] = []
for (const foreignShare of [0, 0.95]) {
  rows.push(await measure(`${foreignShare * 100} % ordinary spans, gzip`, foreignShare))
}
console.table(
  rows.map(({ name, perSecond, perCpuSecond, decodingPerCpuSecond, heapMiB }) => ({
    case: name,
    'received and stored, spans/s': Math.round(perSecond),
    'HTTP to score, spans/CPU s': Math.round(perCpuSecond),
    'decoding alone, spans/CPU s': Math.round(decodingPerCpuSecond),
    'beside decoding': (perCpuSecond / decodingPerCpuSecond).toFixed(2),
    'heap after, MiB': Math.round(heapMiB),
  })),
)

async function measure(name: string, foreignShare: number): Promise<Row> {
  const bodies = requestsOf(spans, foreignShare)
  const decodingPerCpuSecond = await decoding(bodies)
  const compressed = bodies.map((body) => gzipSync(body))
  const folder = mkdtempSync(join(tmpdir(), 'spanscore-bench-'))
  await using sink = await createSink()
  const server = await startServer(
    serverOptions(sink.url, { dataFolder: folder, limits: { ...serverOptions('').limits, maxLogBytes: 8e9 } }),
  )
  const cpu = process.cpuUsage()
  const startMs = performance.now()
  let next = 0
  const sender = async (): Promise<void> => {
    for (let body = compressed[next++]; body !== undefined; body = compressed[next++]) {
      const response = await fetch(`http://127.0.0.1:${server.httpPort}/v1/traces`, {
        method: 'POST',
        headers: { 'content-type': 'application/x-protobuf', 'content-encoding': 'gzip' },
        body,
      })
      await response.arrayBuffer()
      if (response.status !== 200) throw new Error(`The service answered ${response.status}.`)
    }
  }
  await Promise.all(Array.from({ length: 4 }, sender))
  const storedMs = performance.now() - startMs
  const counts = () =>
    server.counts() as { service: { runs: number }; outbox: { waiting: number }; traces: { openUnits: number } }
  await until(() => counts().traces.openUnits === 0 && counts().outbox.waiting === 0, 'all scores', 120_000)
  const used = process.cpuUsage(cpu)
  globalThis.gc?.()
  const heapMiB = process.memoryUsage().heapUsed / 2 ** 20
  await server.stop()
  rmSync(folder, { recursive: true, force: true })
  return {
    name,
    perSecond: (spans / storedMs) * 1000,
    perCpuSecond: spans / ((used.user + used.system) / 1e6),
    decodingPerCpuSecond,
    heapMiB,
  }
}

async function decoding(bodies: readonly Uint8Array[]): Promise<number> {
  const decode = await createProtobufDecoder()
  const cpu = process.cpuUsage()
  let count = 0
  for (const body of bodies) count += decode(body).spans.length
  const used = process.cpuUsage(cpu)
  return count / ((used.user + used.system) / 1e6)
}
