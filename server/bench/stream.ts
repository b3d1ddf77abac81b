import { promisify } from 'node:util'
import { gzip } from 'node:zlib'

import { MeasuredService } from './measured-service.ts'
import { ProcessUse } from './process-use.ts'
import { makeRequests } from './requests.ts'
import type { MadeRequests } from './requests.ts'
import { sendAll } from './send.ts'

/** Spans at the beginning and at the end whose costs are compared. */
const COMPARED_SPANS = 100_000

/** Spans that are sent before anything is measured. */
const WARM_UP_SPANS = 200_000

/** Spans that are sent under the same trace ids, which are then changed. */
const SPANS_OF_A_ROUND = 50_000

/** Longer than the service waits for further spans of a run. */
const QUIET_MS = 12_000

const compress = promisify(gzip)

/**
 * Streams spans through one service. Each round has new trace ids. While the service works on one round, the next one is compressed, so the
 * service is never waiting for its sender. The first and the last 100,000 spans are each measured until all of their scores have arrived.
 *
 * @param spans how many in all after the warm-up, at least 200,000
 * @param ordinaryShare the share of spans that are not of agents
 */
export async function measureStream(
  spans: number,
  ordinaryShare: number,
  nodeOptions: readonly string[],
): Promise<void> {
  const requests = makeRequests(SPANS_OF_A_ROUND, ordinaryShare)
  await using bench = await MeasuredService.start([], nodeOptions)
  const stream = new Stream(bench.url, requests)
  await stream.send(WARM_UP_SPANS)
  await bench.quiet(QUIET_MS)
  const use = new ProcessUse(bench.pid)
  const rows: Record<string, string | number>[] = []

  const measured = async (what: string, count: number, isComplete: boolean): Promise<number> => {
    const before = { cpuSeconds: use.read().cpuSeconds, sent: stream.sent, atMs: performance.now() }
    const again = await stream.send(count)
    const seconds = (performance.now() - before.atMs) / 1000
    if (isComplete) await bench.quiet(QUIET_MS)
    const sent = stream.sent - before.sent
    const { cpuSeconds, rssMiB } = use.read()
    const microseconds = ((cpuSeconds - before.cpuSeconds) * 1e6) / sent
    const row = {
      what,
      'sent in all': stream.sent,
      'spans/s': Math.round(sent / seconds),
      'spans/CPU s': Math.round(1e6 / microseconds),
      'µs of CPU a span': microseconds.toFixed(1),
      'asked to come back': again,
      'RSS, MiB': rssMiB,
      ...(isComplete && { 'heap after collection, MiB': await bench.heapMiB() }),
    }
    rows.push(row)
    console.info(JSON.stringify(row))
    return microseconds
  }

  const first = await measured('first 100,000', COMPARED_SPANS, true)
  const between = Math.max(0, spans - 2 * COMPARED_SPANS)
  for (let tenth = 1; tenth <= 10; tenth++) await measured(`${tenth} of 10 parts between`, between / 10, tenth === 10)
  const last = await measured('last 100,000', COMPARED_SPANS, true)
  console.table(rows)
  console.info(
    `After ${stream.sent} spans one costs ${(last / first).toFixed(3)} of what it cost at 100,000 (${last.toFixed(1)} and ${first.toFixed(1)} µs).`,
  )
}

/** Sends the same requests in rounds, each time with new trace ids. */
class Stream {
  readonly #url: string
  readonly #requests: MadeRequests
  #next: Promise<readonly Buffer[]>
  sent = 0

  constructor(url: string, requests: MadeRequests) {
    this.#url = url
    this.#requests = requests
    this.#next = zipped(requests)
  }

  /** Sends at least so many spans, in whole rounds. @returns how often the service asked to come back later */
  async send(spans: number): Promise<number> {
    let again = 0
    for (let sent = 0; sent < spans; sent += this.#requests.spans) {
      const bodies = await this.#next
      this.#requests.renew()
      this.#next = zipped(this.#requests)
      again += (await sendAll(this.#url, bodies)).again
      this.sent += this.#requests.spans
    }
    return again
  }
}

/** The requests must not be changed before this has resolved. */
async function zipped({ bodies }: MadeRequests): Promise<readonly Buffer[]> {
  const compressed: Buffer[] = []
  for (const body of bodies) compressed.push(await compress(body, { level: 1 }))
  return compressed
}
