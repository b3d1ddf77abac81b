/** One side of a comparison, in its own process: plays a block of traffic for each message, and reports the time that it took. */
import { diag, logs, metrics, trace } from '@opentelemetry/api'
import type { Tracer } from '@opentelemetry/api'
import { BatchLogRecordProcessor, LoggerProvider } from '@opentelemetry/sdk-logs'
import { AggregationTemporality, MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics'
import { TracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace'
import { attachScoring } from 'spanscore'

import { Floor } from './floor.ts'
import { HOST_CASES } from './host-cases.ts'

const [name = '', side, unitsText] = process.argv.slice(2)
const hostCase = HOST_CASES[name]
if (hostCase === undefined || process.send === undefined) throw new Error('expected to be started by bench/host.ts')
const units = Number(unitsText)

let exported = 0
const exporter = {
  export(spans: readonly { instrumentationScope: { name: string } }[], done: (result: { code: number }) => void): void {
    // On a busy machine a scorer is deferred, and writes its scores as separate spans.
    for (const span of spans) if (span.instrumentationScope.name !== 'spanscore') exported += 1
    done({ code: 0 })
  },
  shutdown: () => Promise.resolve(),
  forceFlush: () => Promise.resolve(),
}
const silent = { ...exporter, export: (_: unknown, done: (result: { code: number }) => void) => done({ code: 0 }) }
const provider = new TracerProvider({
  spanProcessors: [...(side === 'floor' ? [new Floor(hostCase.floor)] : []), new BatchSpanProcessor({ exporter })],
})
trace.setGlobalTracerProvider(provider)
if (hostCase.signals) {
  logs.setGlobalLoggerProvider(new LoggerProvider({ processors: [new BatchLogRecordProcessor({ exporter: silent })] }))
  metrics.setGlobalMeterProvider(
    new MeterProvider({
      readers: [
        new PeriodicExportingMetricReader({
          exporter: { ...silent, selectAggregationTemporality: () => AggregationTemporality.CUMULATIVE },
        }),
      ],
    }),
  )
}
diag.setLogger({ error: console.error, warn: console.error, info() {}, debug() {}, verbose() {} })
if (side === 'with') attachScoring(hostCase.options())

const tracers = new Map<string, Tracer>()
function tracerOf(scope: string): Tracer {
  let tracer = tracers.get(scope)
  if (tracer === undefined) tracers.set(scope, (tracer = provider.getTracer(scope, '1.0.0')))
  return tracer
}

const play = hostCase.play()
// The batch processor's queue drops spans beyond 2,048, so it gets its turn well before that.
const unitsPerTurn = Math.max(1, Math.floor(240 / hostCase.spansPerUnit))

async function block(): Promise<number> {
  const before = process.cpuUsage()
  for (let unit = 0; unit < units; unit += 1) {
    play(tracerOf)
    if (unit % unitsPerTurn === 0) await new Promise((resolve) => setImmediate(resolve))
  }
  await provider.forceFlush()
  const { user, system } = process.cpuUsage(before)
  return ((user + system) * 1000) / units
}

let played = 0
process.on('message', () => {
  exported = 0
  block()
    .then((nsPerUnit) => {
      played += 1
      process.send?.({ nsPerUnit, lost: units * hostCase.spansPerUnit - exported, played })
    })
    .catch((error: unknown) => process.send?.({ error: String(error) }))
})
