/**
 * Measures what the service costs: how many spans it receives and stores per second, and how many spans it scores and delivers per
 * second of processor time. Each figure is shown beside the cost of only decoding the same bytes in the same run.
 *
 *     npm run bench:server                                  100,000 spans, without and with ordinary ones
 *     npm run bench:stream                                  10 million spans of agents in one stream: the cost of a span at its beginning
 *                                                           and at its end, and memory; `-- --stream 1000000 --ordinary 0.95` for others
 *     npm run bench:server -- --kafka                       a worker that reads 200,000 such spans from a real broker
 *     npm run bench:server -- --node=--cpu-prof             with options of Node.js for the service or the worker
 */
import { parseArgs } from 'node:util'
import { gzipSync } from 'node:zlib'

import { createProtobufDecoder } from 'spanscore/engine'

import { MeasuredService } from './measured-service.ts'
import { MeasuredWorker } from './measured-worker.ts'
import { makeRequests } from './requests.ts'
import type { MadeRequests } from './requests.ts'
import { largestRssMiB, ProcessUse } from './process-use.ts'
import { sendAll } from './send.ts'
import { measureStream } from './stream.ts'

const { values } = parseArgs({
  options: {
    spans: { type: 'string' },
    'warm-up': { type: 'string' },
    ordinary: { type: 'string', multiple: true },
    stream: { type: 'string' },
    kafka: { type: 'boolean', default: false },
    node: { type: 'string' },
  },
})

const nodeOptions = values.node?.split(' ') ?? []

/** Spans that are sent before anything is measured, because a service is started once and then runs for weeks. */
const warmUpSpans = Number(values['warm-up'] ?? (values.kafka ? 100_000 : 30_000))

if (values.kafka) await measureWorker(Number(values.spans ?? 200_000))
else if (values.stream === undefined) await measureAll(Number(values.spans ?? 100_000))
else await measureStream(Number(values.stream), Number(values.ordinary?.[0] ?? 0), nodeOptions)

async function measureAll(spans: number): Promise<void> {
  const rows = []
  for (const ordinaryShare of (values.ordinary ?? ['0', '0.95']).map(Number))
    rows.push(await measure(spans, ordinaryShare))
  console.table(rows)
}

async function measure(spans: number, ordinaryShare: number): Promise<Record<string, string | number>> {
  const warmUp = makeRequests(warmUpSpans, ordinaryShare)
  const requests = makeRequests(spans, ordinaryShare)
  const perCpuSecond = await decoding(requests.bodies)
  const bytes = requests.bodies.reduce((sum, body) => sum + body.byteLength, 0)
  await using bench = await MeasuredService.start(['--settle', '3'], nodeOptions)
  await sendAll(bench.url, zipped(warmUp))
  await bench.quiet()
  const compressed = zipped(requests)
  const use = new ProcessUse(bench.pid)
  const sent = await sendAll(bench.url, compressed)
  const stored = use.read()
  await bench.quiet()
  const scored = use.read()
  return {
    'ordinary spans': `${ordinaryShare * 100} %`,
    'bytes a span': Math.round(bytes / requests.spans),
    'compressed to': `${Math.round((compressed.reduce((sum, body) => sum + body.byteLength, 0) / bytes) * 100)} %`,
    'spans a run': Math.round(requests.spans / requests.traces),
    'stored, spans/s': Math.round(requests.spans / sent.seconds),
    'stored, spans/CPU s': Math.round(requests.spans / stored.cpuSeconds),
    'scored, spans/CPU s': Math.round(requests.spans / scored.cpuSeconds),
    'decoding, spans/CPU s': Math.round(perCpuSecond),
    'stored / decoding': (requests.spans / stored.cpuSeconds / perCpuSecond).toFixed(2),
    'scored / decoding': (requests.spans / scored.cpuSeconds / perCpuSecond).toFixed(2),
    'largest RSS, MiB': largestRssMiB(bench.pid),
  }
}

/** Measures what the worker's process uses from its first read at the broker until its scores are acknowledged. */
async function measureWorker(spans: number): Promise<void> {
  const requests = makeRequests(spans, 0)
  const perCpuSecond = await decoding(requests.bodies)
  await using bench = await MeasuredWorker.start(nodeOptions)
  await bench.fill(zipped(makeRequests(warmUpSpans, 0)))
  await bench.quiet()
  const use = new ProcessUse(bench.pid)
  const messages = await bench.fill(zipped(requests))
  await bench.quiet()
  const { cpuSeconds } = use.read()
  console.table([
    {
      spans: requests.spans,
      'spans a run': Math.round(requests.spans / requests.traces),
      'spans a message': (requests.spans / messages).toFixed(1),
      'scored, spans/CPU s': Math.round(requests.spans / cpuSeconds),
      'decoding, spans/CPU s': Math.round(perCpuSecond),
      'scored / decoding': (requests.spans / cpuSeconds / perCpuSecond).toFixed(2),
      'largest RSS, MiB': largestRssMiB(bench.pid),
    },
  ])
}

function zipped({ bodies }: MadeRequests): readonly Buffer[] {
  return bodies.map((body) => gzipSync(body, { level: 1 }))
}

async function decoding(bodies: readonly Uint8Array[]): Promise<number> {
  const decode = await createProtobufDecoder()
  for (const body of bodies.slice(0, bodies.length >> 1)) decode(body)
  const cpu = process.cpuUsage()
  let count = 0
  for (const body of bodies) count += decode(body).spans.length
  const used = process.cpuUsage(cpu)
  return count / ((used.user + used.system) / 1e6)
}
