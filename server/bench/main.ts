/**
 * What the service costs: spans that are received and stored each second, and spans that are scored for each second of processor
 * time, each beside decoding the same bytes alone in the same run. `npm run bench:server`, with `--spans 200000` for more.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { gzipSync } from 'node:zlib'

import { createProtobufDecoder } from 'spanscore/engine'

import { startProcess } from '../test/load/server-process.ts'
import { createSink } from '../test/sink.ts'
import type { Sink } from '../test/sink.ts'
import { requestsOf } from './requests.ts'

const { values } = parseArgs({ options: { spans: { type: 'string', default: '60000' } } })
const spans = Number(values.spans)

interface Row {
  readonly name: string
  readonly perSecond: number
  readonly perCpuSecond: number
  readonly decodingPerCpuSecond: number
  readonly storedPerCpuSecond: number
  readonly rssMiB: number
}

const rows: Row[] = []
for (const foreignShare of [0, 0.95]) {
  rows.push(await measure(`${foreignShare * 100} % ordinary spans, gzip`, foreignShare))
}
console.table(
  rows.map((row) => ({
    case: row.name,
    'received and stored, spans/s': Math.round(row.perSecond),
    'the same, spans/CPU s': Math.round(row.storedPerCpuSecond),
    'HTTP to score, spans/CPU s': Math.round(row.perCpuSecond),
    'decoding alone, spans/CPU s': Math.round(row.decodingPerCpuSecond),
    'beside decoding': (row.perCpuSecond / row.decodingPerCpuSecond).toFixed(2),
    'largest RSS, MiB': Math.round(row.rssMiB),
  })),
)

async function measure(name: string, foreignShare: number): Promise<Row> {
  const bodies = requestsOf(spans, foreignShare)
  const decodingPerCpuSecond = await decoding(bodies)
  const compressed = bodies.map((body) => gzipSync(body))
  const folder = mkdtempSync(join(tmpdir(), 'spanscore-bench-'))
  const sink = await createSink({ keeps: false })
  const server = await startProcess(['--to', sink.url, '--data', folder, '--settle', '1'])
  const pid = server.child.pid ?? 0
  const idle = cpuSecondsOf(pid)
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
  const storedCpu = cpuSecondsOf(pid) - idle
  await quiet(sink)
  const cpu = cpuSecondsOf(pid) - idle
  const rssMiB = Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024
  await server.stop()
  await sink[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true, force: true })
  return {
    name,
    perSecond: (spans / storedMs) * 1000,
    storedPerCpuSecond: spans / storedCpu,
    perCpuSecond: spans / cpu,
    decodingPerCpuSecond,
    rssMiB,
  }
}

/** Processor time of a process so far, in seconds: user and system, which Linux counts in hundredths. */
function cpuSecondsOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) / 100
}

/** Resolves when no score has come for two seconds. */
async function quiet(sink: Sink): Promise<void> {
  let count = -1
  while (sink.requests.length !== count) {
    count = sink.requests.length
    await new Promise((resolve) => setTimeout(resolve, 2000))
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
