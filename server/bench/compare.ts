/**
 * Compares the cost of a span in this build with the cost in another build. Both are measured alternately in one process, because
 * on a machine that does other work two processes differ more than two builds do.
 *
 *     npm run bench:compare -- /path/to/another/checkout/that/is/built
 *
 * Each round measures both builds in direct succession, so their ratio is more reliable than the times themselves.
 * A measurement covers everything from a protobuf request to encoded scores, with the log in memory and without HTTP.
 */
import { fileURLToPath, pathToFileURL } from 'node:url'

import { makeRequests } from './requests.ts'

const SPANS = 8000
const WARM_UP = 8
const ROUNDS = 25

/** Milliseconds after which the runs of a request are complete, and after which their spans are given up. */
const SETTLE_MS = 3000
const LINGER_MS = 20_000

interface Measured {
  readonly folder: string
  readonly microseconds: number[]
  /** Scores the runs of these requests. */
  score(bodies: readonly Uint8Array[]): Promise<void>
}

const [, , other] = process.argv
if (other === undefined) throw new Error('Expected the folder of another checkout that is built, got none.')

const builds = [await load(fileURLToPath(new URL('../..', import.meta.url))), await load(other)]
const requests = makeRequests(SPANS, 0)
for (let round = 0; round < WARM_UP + ROUNDS; round++) {
  requests.renew()
  for (const build of round % 2 === 0 ? builds : builds.toReversed()) {
    const before = process.cpuUsage()
    await build.score(requests.bodies)
    const { user, system } = process.cpuUsage(before)
    if (round >= WARM_UP) build.microseconds.push((user + system) / requests.spans)
  }
}
const [ours, theirs] = builds.map(({ microseconds }) => microseconds)
const ratios = (ours ?? [])
  .map((each, round) => each / (theirs?.[round] ?? each))
  .toSorted((left, right) => left - right)
console.info(
  `This build takes ${ratios[ratios.length >> 1]?.toFixed(3)} of the other one's time (median of ${ROUNDS} pairs).`,
)
console.table(
  builds.map(({ folder, microseconds }) => {
    const sorted = microseconds.toSorted((left, right) => left - right)
    return {
      folder,
      'least, µs a span': sorted[0]?.toFixed(1),
      'median, µs a span': sorted[sorted.length >> 1]?.toFixed(1),
    }
  }),
)
process.exit()

function report(message: string): void {
  console.error(message)
}

/* oxlint-disable typescript/no-unsafe-type-assertion -- the other build has the same modules as this one */
async function load(folder: string): Promise<Measured> {
  const from = (path: string) => import(pathToFileURL(`${folder}/server/dist/${path}.js`).href)
  const { RequestReader } = (await from('receive/read-request')) as typeof import('../src/receive/read-request.ts')
  const { MemoryLog } = (await from('log/memory-log')) as typeof import('../src/log/memory-log.ts')
  const { HeldTraces } = (await from('traces/held-traces')) as typeof import('../src/traces/held-traces.ts')
  const { Service } = (await from('service')) as typeof import('../src/service.ts')
  const { ServiceScorer } = (await from('score/service-scorer')) as typeof import('../src/score/service-scorer.ts')
  const { ServiceMeters } = (await from('send/service-meters')) as typeof import('../src/send/service-meters.ts')
  const { Outbox } = (await from('send/outbox')) as typeof import('../src/send/outbox.ts')
  const { encodeRequest } = (await from('send/gathered-scores')) as typeof import('../src/send/gathered-scores.ts')
  const { loadServiceConfig } = (await from('config/load-config')) as typeof import('../src/config/load-config.ts')

  const clock = { ms: Date.now() }
  const nowMs = () => clock.ms
  const reader = await RequestReader.create({ maxSpansPerRequest: 100_000, maxSpanBytes: 10 * 1024 * 1024 })
  const log = new MemoryLog(nowMs)
  const { options } = loadServiceConfig(undefined, () => undefined)
  const scorer = new ServiceScorer({ options, meters: new ServiceMeters('compared', undefined) })
  const exporter = {
    send: (records: Parameters<typeof encodeRequest>[0]) => {
      encodeRequest(records)
      return Promise.resolve({ status: 'acknowledged' } as const)
    },
    shutdown: () => Promise.resolve(),
  }
  const outbox = new Outbox({ logs: exporter, spans: exporter, report, now: () => performance.now() })
  const buffer = new HeldTraces({
    settleMs: SETTLE_MS,
    orphanMs: 300_000,
    lingerMs: LINGER_MS,
    maxAgeMs: 3_600_000,
    maxSpansPerTrace: 10_000,
    maxBytesPerTrace: 100_000_000,
    maxSpans: 150_000,
    maxContentBytes: 64 * 1024 * 1024,
  })
  const take = () => scorer.take()
  const service = new Service({ log, reader, buffer, scorer, outbox, take, report, nowMs })
  service.start()
  return {
    folder,
    microseconds: [],
    score: async (bodies) => {
      for (const bytes of bodies) {
        const body = Buffer.from(bytes)
        const { decoded } = reader.read(body, 'protobuf')
        await log.append({ record: { signal: 'traces', encoding: 'protobuf', contentEncoding: '', body, decoded } })
      }
      clock.ms += SETTLE_MS + 1000
      await service.sweep()
      while (outbox.undelivered > 0 || service.scoring > 0) await new Promise((resolve) => setImmediate(resolve))
      clock.ms += LINGER_MS + 1000
      await service.sweep()
    },
  }
}
