/**
 * 2,000 agent runs a second for a minute, a tenth of them judged by a judge that is slow, fails and hangs: `npm run test:soak`,
 * `-- --seconds 20`, `-- --rate 500`. First the same load without spanscore, which is what its stalls are compared with.
 * `-- --otlp --rate 200 --seconds 600` sends everything as OTLP over HTTP to a receiver, which must get every span and event.
 */
import { parseArgs } from 'node:util'
import { getHeapSpaceStatistics } from 'node:v8'

import { diag, logs, metrics, trace } from '@opentelemetry/api'
import type { Tracer } from '@opentelemetry/api'
import { BatchLogRecordProcessor, LoggerProvider } from '@opentelemetry/sdk-logs'
import { AggregationTemporality, MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics'
import { TracerProvider } from '@opentelemetry/sdk-trace'
import type { ReadableSpan, SpanProcessor } from '@opentelemetry/sdk-trace'
import { createToolCallAccuracyScorerCode, ScoringSpanProcessor } from 'spanscore'
import type { LedgerSnapshot } from 'spanscore'

import { loadRecording, replay } from '../../bench/replay.ts'
import { EventLoopWatch } from './event-loop-watch.ts'
import type { EventLoopReport } from './event-loop-watch.ts'
import { createUnreliableJudge } from './judge.ts'
import { playLoad } from './load.ts'
import { createOtlpEnd } from './otlp.ts'
import { trendOf } from './trend.ts'
import type { Sample } from './trend.ts'

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '60' },
    rate: { type: 'string', default: '2000' },
    otlp: { type: 'boolean', default: false },
  },
})
const seconds = Number(values.seconds)
const rate = Number(values.rate)
if (!(seconds >= 8) || !(rate > 0)) throw new RangeError('expected --seconds of at least 8 and a --rate above 0')

/** This is longer than a judge's time limit: from then on as many hung judges are given up as begin to hang. */
const WARM_UP_SECONDS = 15
const JUDGE_TIMEOUT_MS = 10_000
/** The longest time for which the load without spanscore is measured: enough to know how often it stalls by itself. */
const MOST_SECONDS_WITHOUT = 60
/** The growth of the heap that is allowed in the measured time, as a share of its mean. */
const MOST_GROWTH = 0.03

const recording = loadRecording('ai-7.0.173-otel', '01-weather.generateText')
const broken: string[] = []
function must(holds: boolean, otherwise: string): void {
  if (!holds) broken.push(otherwise)
}

diag.setLogger({ error: console.error, warn: console.error, info() {}, debug() {}, verbose() {} })
const silent = {
  export: (_: unknown, done: (result: { code: number }) => void): void => done({ code: 0 }),
  forceFlush: (): Promise<void> => Promise.resolve(),
  shutdown: (): Promise<void> => Promise.resolve(),
}
const otlp = values.otlp ? await createOtlpEnd() : undefined
if (otlp === undefined) {
  logs.setGlobalLoggerProvider(new LoggerProvider({ processors: [new BatchLogRecordProcessor({ exporter: silent })] }))
  const reader = new PeriodicExportingMetricReader({
    exporter: { ...silent, selectAggregationTemporality: () => AggregationTemporality.CUMULATIVE },
    exportIntervalMillis: 5_000,
  })
  metrics.setGlobalMeterProvider(new MeterProvider({ readers: [reader] }))
}

/** The processor behind: counts what comes, each span once. */
class CountingProcessor implements SpanProcessor {
  ended = 0
  readonly #exporting: SpanProcessor | undefined
  /** @param exporting What the spans go on to. */
  constructor(exporting?: SpanProcessor) {
    this.#exporting = exporting
  }
  onStart(): void {}
  onEnd(span: ReadableSpan): void {
    this.ended += 1
    this.#exporting?.onEnd(span)
  }
  async forceFlush(): Promise<void> {
    await this.#exporting?.forceFlush()
  }
  async shutdown(): Promise<void> {
    await this.#exporting?.shutdown()
  }
}

/** V8 compiles functions again for many minutes, so the spaces of compiled code and bytecode grow while objects do not. */
const SPACES_OF_CODE = new Set(['code_space', 'code_large_object_space', 'trusted_space', 'trusted_large_object_space'])

/** The bytes of the heap that objects use. */
function usedByObjects(): number {
  const spaces = getHeapSpaceStatistics().filter(({ space_name: name }) => !SPACES_OF_CODE.has(name))
  return spaces.reduce((sum, { space_used_size: bytes }) => sum + bytes, 0)
}

/** One part of the soak: the load on one provider, warmed up and then measured. */
async function measure(processor: SpanProcessor, warmUpSeconds: number, measuredSeconds: number) {
  const provider = new TracerProvider({ spanProcessors: [processor] })
  const tracers = new Map<string, Tracer>()
  const tracerOf = (scope: string): Tracer => {
    const known = tracers.get(scope) ?? provider.getTracer(scope, '1.0.0')
    tracers.set(scope, known)
    return known
  }
  const playOnce = replay(recording)
  const play = (): void => playOnce(tracerOf)
  const warmedUp = await playLoad({ play, runsPerSecond: rate, seconds: warmUpSeconds })
  const watch = new EventLoopWatch()
  const heap: Sample[] = []
  const before = process.cpuUsage()
  watch.resume()
  const runs = await playLoad({
    play,
    runsPerSecond: rate,
    seconds: measuredSeconds,
    everyTwoSeconds: (elapsed) => {
      watch.pause()
      globalThis.gc?.()
      heap.push([elapsed, usedByObjects() / 2 ** 20])
      watch.resume()
    },
  })
  watch.pause()
  const { user, system } = process.cpuUsage(before)
  return {
    provider,
    started: warmedUp + runs,
    perSecond: runs / measuredSeconds,
    cpu: (user + system) / 1e6 / measuredSeconds,
    heap: trendOf(heap),
    eventLoop: watch.report(),
  }
}

function sayEventLoop(title: string, { seconds: watched, ...loop }: EventLoopReport): void {
  const busy = loop.busy.map(({ ms }) => ms.toFixed(0)).join(', ')
  console.log(
    `${title}: turns of the event loop p50 ${loop.p50Ms.toFixed(1)} ms, p99 ${loop.p99Ms.toFixed(1)} ms, max ${loop.maxMs.toFixed(1)} ms; ` +
      `over 20 ms in ${watched.toFixed(0)} s: ${loop.busy.length} by the process's own computing${busy && ` (${busy} ms)`}, ` +
      `${loop.preempted} by the machine; longest collection ${loop.longestCollectionMs.toFixed(1)} ms`,
  )
  for (const { ms, ran } of loop.busy) console.log(`  ${ms.toFixed(0)} ms: ${ran}`)
}

function checkLedger(when: string, { runs, scorers }: LedgerSnapshot, started: number): void {
  must(runs.seen === started, `${when}: ${runs.seen} runs seen of ${started}`)
  must(runs.seen === runs.closed + runs.open + runs.evicted, `${when}: runs ${JSON.stringify(runs)}`)
  for (const [id, row] of Object.entries(scorers)) {
    const reasons = Object.values(row.reasons).reduce((sum, count) => sum + count, 0)
    must(
      row.offered === runs.closed + runs.evicted &&
        row.offered === row.scored + row.skipped + row.failed + row.pending &&
        reasons === row.skipped + row.failed,
      `${when}: ${id} ${JSON.stringify(row)}`,
    )
  }
}

const says = (number: number): string => Math.round(number).toLocaleString('en')

// Over OTLP the load without spanscore exports its spans too: an exporter needs turns of the event loop, too.
const without = await measure(new CountingProcessor(otlp?.exportSpans()), 3, Math.min(seconds, MOST_SECONDS_WITHOUT))
await without.provider.shutdown()
const spansWithout = without.started * recording.length

const judge = createUnreliableJudge()
const next = new CountingProcessor(otlp?.exportSpans())
const scoring = new ScoringSpanProcessor({
  scorers: [createToolCallAccuracyScorerCode({ expectedTool: 'weather-tool' }), { scorer: judge.scorer, sample: 0.1 }],
  next,
  concurrency: 64,
  timeoutMs: JUDGE_TIMEOUT_MS,
  budget: { callsPerMinute: Infinity, tokensPerHour: Infinity, usdPerDay: Infinity },
  upstreamProbability: 1,
})
const withScoring = await measure(scoring, WARM_UP_SECONDS, seconds)
checkLedger('under load', scoring.ledger(), withScoring.started)
await withScoring.provider.forceFlush()
const spans = withScoring.started * recording.length
must(next.ended === spans, `${next.ended} spans at next.onEnd after the flush, expected ${spans}`)
checkLedger('after the flush', scoring.ledger(), withScoring.started)
await withScoring.provider.shutdown()
trace.disable()
const ledger = scoring.ledger()
checkLedger('after the shutdown', ledger, withScoring.started)
must(next.ended === spans, `${next.ended} spans at next.onEnd after the shutdown, expected ${spans}`)
must(
  ledger.runs.open === 0 && Object.values(ledger.scorers).every(({ pending }) => pending === 0),
  `after the shutdown something is left: ${JSON.stringify(ledger)}`,
)

if (otlp !== undefined) {
  await otlp.flush()
  const received = await otlp.counts()
  const emitted = Object.values(ledger.scorers).reduce((sum, { scored, failed }) => sum + scored + failed, 0)
  const sent = spansWithout + spans
  must(received.spans === sent, `the receiver got ${received.spans} spans of ${sent}`)
  must(received.events === emitted, `the receiver got ${received.events} events of ${emitted}`)
  must(received.metricRequests > 0, 'the receiver got no metrics')
  console.log(`OTLP: ${received.spans} spans, ${received.events} events, ${received.metricRequests} metric requests`)
  await otlp.close()
}

const { mean, slope, slopeError } = withScoring.heap
const growth = slope * seconds
// A slope within three standard errors of zero counts as zero.
must(
  growth < MOST_GROWTH * mean || slope < 3 * slopeError,
  `the objects of the heap grew by ${growth.toFixed(1)} MiB in ${seconds} s on a mean of ${mean.toFixed(1)} MiB`,
)
const stallsAMinute = ({ busy, seconds: watched }: EventLoopReport): number => (60 * busy.length) / watched
must(
  stallsAMinute(withScoring.eventLoop) <= stallsAMinute(without.eventLoop),
  `${stallsAMinute(withScoring.eventLoop).toFixed(1)} stalls over 20 ms a minute, ${stallsAMinute(without.eventLoop).toFixed(1)} without spanscore`,
)
for (const { perSecond } of [without, withScoring]) {
  must(
    perSecond > 0.95 * rate,
    `${says(perSecond)} runs a second were played, not ${says(rate)}: the machine is too busy`,
  )
}

console.log(
  `Node ${process.version}; ${says(rate)} runs a second of ${recording.length} spans for ${seconds} s, after ${WARM_UP_SECONDS} s of warm-up`,
)
console.log(
  `rate: ${says(without.perSecond)} runs a second without spanscore (${without.cpu.toFixed(2)} cores), ` +
    `${says(withScoring.perSecond)} with it (${withScoring.cpu.toFixed(2)} cores)`,
)
console.log(`spans: ${says(spans)} ended, ${says(next.ended)} at next.onEnd`)
console.log(`runs: ${JSON.stringify(ledger.runs)}`)
for (const [id, row] of Object.entries(ledger.scorers)) console.log(`${id}: ${JSON.stringify(row)}`)
console.log(`judge: ${judge.counts.asked} asked, ${judge.counts.failed} failed, ${judge.counts.hung} hung`)
for (const [title, { heap }] of [
  ['without', without],
  ['with', withScoring],
] as const) {
  console.log(
    `heap ${title}, without compiled code: ${heap.mean.toFixed(1)} MiB after collection, ` +
      `${(heap.slope * 60).toFixed(2)} ± ${(heap.slopeError * 60).toFixed(2)} MiB a minute`,
  )
}
sayEventLoop('without', without.eventLoop)
sayEventLoop('with', withScoring.eventLoop)
for (const what of broken) console.error(`✗ ${what}`)
console.log(broken.length === 0 ? 'All of it holds.' : `${broken.length} of it do not hold.`)
process.exitCode = broken.length === 0 ? 0 : 1
