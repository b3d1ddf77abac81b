import { promisify } from 'node:util'
import { gzip } from 'node:zlib'

import { MeasuredService } from './measured-service.ts'
import { ProcessUse } from './process-use.ts'
import { makeRequests } from './requests.ts'
import type { MadeRequests } from './requests.ts'
import { sendAll } from './send.ts'

/** Spans that are sent alone. */
const ALONE_SPANS = 100_000

/** How often they are sent and measured, before the stream and after it. */
const ALONE_TIMES = 2

/** Spans that are sent before anything is measured. */
const WARM_UP_SPANS = 200_000

/** Spans that are sent under the same trace ids, which are then changed. */
const SPANS_OF_A_ROUND = 50_000

/** Parts of the stream that are measured. */
const PARTS = 10

/** How long the idle service is measured. */
const IDLE_MS = 15_000

/**
 * How long a scored run waits for late spans, in seconds. In a stream at full speed, scored runs give way to new spans (`limits.heldSpans`) long before that;
 * the default of 300 would only prolong the measure of the spans that are sent alone.
 */
const LINGER_SECONDS = 20

const compress = promisify(gzip)

/**
 * Compares what a span costs in a long stream with what it costs when 100,000 spans are sent alone, before the stream and after it. Each
 * measure includes everything that happens to a span: it is received, stored, settled, scored, delivered and deleted. Alone, it ends when
 * the log is empty, and what an idle service uses in that time is subtracted. In the stream, each part deletes as many spans as it receives,
 * and the whole stream is measured until the log is empty. Each round of the stream has new trace ids, and the next one is compressed
 * meanwhile, so that the service never waits for its sender.
 *
 * @param spans how many the stream has, at least 500,000
 * @param ordinaryShare the share of spans that are not of agents
 */
export async function measureStream(
  spans: number,
  ordinaryShare: number,
  nodeOptions: readonly string[],
): Promise<void> {
  const requests = makeRequests(SPANS_OF_A_ROUND, ordinaryShare)
  await using bench = await MeasuredService.start(['--linger', String(LINGER_SECONDS)], nodeOptions)
  console.info(`The service is process ${bench.pid}.`)
  const stream = new Stream(bench.url, requests)
  await stream.send(WARM_UP_SPANS)
  await bench.drained()
  const use = new ProcessUse(bench.pid)
  await new Promise((resolve) => setTimeout(resolve, IDLE_MS))
  const idleShare = use.read().cpuSeconds / (IDLE_MS / 1000)
  const rows: object[] = []

  /** Starts measuring. @returns ends it, and gives the microseconds of processor time that a span took */
  const begin = (idleCpuShare = 0): ((what: string) => number) => {
    const before = {
      cpuSeconds: use.read().cpuSeconds,
      sent: stream.sent,
      again: stream.again,
      atMs: performance.now(),
    }
    return (what) => {
      const sent = stream.sent - before.sent
      const seconds = (performance.now() - before.atMs) / 1000
      const { cpuSeconds, rssMiB } = use.read()
      const microseconds = ((cpuSeconds - before.cpuSeconds - idleCpuShare * seconds) * 1e6) / sent
      const row = {
        what,
        spans: sent,
        'spans/s': Math.round(sent / seconds),
        'spans/CPU s': Math.round(1e6 / microseconds),
        'µs of CPU a span': microseconds.toFixed(1),
        'asked to come back': stream.again - before.again,
        'RSS, MiB': rssMiB,
      }
      rows.push(row)
      console.info(JSON.stringify(row))
      return microseconds
    }
  }
  const alone = async (when: string): Promise<number> => {
    let sum = 0
    for (let time = 0; time < ALONE_TIMES; time++) {
      const end = begin(idleShare)
      await stream.send(ALONE_SPANS)
      await bench.drained()
      sum += end(`alone, ${when} the stream`)
    }
    return sum / ALONE_TIMES
  }

  const before = await alone('before')
  const heapBefore = await bench.heapMiB()
  const endStream = begin()
  let latest = Number.NaN
  for (let part = 1; part <= PARTS; part++) {
    const end = begin()
    await stream.send(spans / PARTS)
    latest = end(`${part} of ${PARTS} parts of the stream`)
  }
  await bench.drained()
  const whole = endStream('the whole stream')
  const heapAfter = await bench.heapMiB()
  const after = await alone('after')
  console.table(rows)
  const ofAlone = (microseconds: number) => `${(microseconds / before).toFixed(3)} (${microseconds.toFixed(1)} µs)`
  console.info(
    `Of what a span cost alone before the stream (${before.toFixed(1)} µs), it cost ${ofAlone(whole)} in the whole stream, ` +
      `${ofAlone(latest)} in its last part, and ${ofAlone(after)} alone after it. ` +
      `Heap after collection: ${heapBefore} MiB before, ${heapAfter} MiB after. The idle service uses ${(idleShare * 100).toFixed(2)} % of a CPU.`,
  )
}

/** Sends the same requests in rounds, each time with new trace ids. */
class Stream {
  readonly #url: string
  readonly #requests: MadeRequests
  #next: Promise<readonly Buffer[]>
  sent = 0
  /** How often the service asked to come back later. */
  again = 0

  constructor(url: string, requests: MadeRequests) {
    this.#url = url
    this.#requests = requests
    this.#next = zipped(requests)
  }

  /** Sends at least so many spans, in whole rounds. */
  async send(spans: number): Promise<void> {
    for (let sent = 0; sent < spans; sent += this.#requests.spans) {
      const bodies = await this.#next
      this.#requests.renew()
      this.#next = zipped(this.#requests)
      this.again += (await sendAll(this.#url, bodies)).again
      this.sent += this.#requests.spans
    }
  }
}

/** The requests must not be changed before this has resolved. */
async function zipped({ bodies }: MadeRequests): Promise<readonly Buffer[]> {
  const compressed: Buffer[] = []
  for (const body of bodies) compressed.push(await compress(body, { level: 1 }))
  return compressed
}
