import { AggregationTemporality, MeterProvider, MetricReader } from '@opentelemetry/sdk-metrics'
import { InMemoryLogRecordExporter, LoggerProvider, SimpleLogRecordProcessor } from '@opentelemetry/sdk-logs'
import { TracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace'
import type { ReadableSpan } from '@opentelemetry/sdk-trace'

import type { ScoringOptions } from '../../src/engine/config/scoring-options.ts'
import { orderOf } from '../../test/corpus/hooks-order.ts'
import { libraryNames, loadLibrary, readScenario } from '../../test/corpus/load.ts'
import { MovedClock } from '../../test/corpus/moved-clock.ts'
import { Player } from '../../test/corpus/play.ts'
import { rawScorer } from '../../test/fuzz/raw-scorer.ts'
import type { Build } from './build.ts'
import type { Observation } from './observation.ts'

const WAY = { parents: 'object', atStart: 'recorded', strangers: false } as const

/** Settings under which every recording is scored, each library with one pipeline. */
const SETTINGS: Readonly<Record<string, Partial<ScoringOptions>>> = {
  'scores on the spans': {},
  'bounds and stripped content': {
    stripContent: true,
    maxSpansPerRun: 6,
    maxSyncBytes: 4000,
    queueSize: 3,
    scope: 'every-agent',
    sample: 0.5,
  },
}

/** Everything that is emitted for the recordings, by the kind of signal, and the ledger. */
export async function* scores(build: Build): AsyncGenerator<Observation> {
  for (const [name, options] of Object.entries(SETTINGS)) {
    for (const library of libraryNames()) yield await scoreLibrary(build, library, name, options)
  }
}

async function scoreLibrary(
  build: Build,
  library: string,
  name: string,
  options: Partial<ScoringOptions>,
): Promise<Observation> {
  using clock = new MovedClock(1_600_000_000_000)
  const [spans, logs, reader] = [new InMemorySpanExporter(), new InMemoryLogRecordExporter(), new Reader()]
  const late = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter: spans })] })
  const scoring = new build.ScoringSpanProcessor({
    scorers: scorersOf(build),
    next: new SimpleSpanProcessor({ exporter: spans }),
    tracerProvider: late,
    loggerProvider: new LoggerProvider({ processors: [new SimpleLogRecordProcessor({ exporter: logs })] }),
    meterProvider: new MeterProvider({ readers: [reader] }),
    budget: { callsPerMinute: Infinity, usdPerDay: Infinity },
    ...options,
  })
  for (const scenario of loadLibrary(library)) {
    const recorded = readScenario(scenario)
    const player = new Player(scoring, [], WAY, recorded.logs)
    await player.play(recorded.spans, scenario.order ?? orderOf(recorded.spans, 'all'), clock, () => undefined)
    await clock.moveBy(10_000)
  }
  await scoring.forceFlush()
  const { resourceMetrics } = await reader.collect()
  // The shutdown of the exporter empties it.
  const finished = spans.getFinishedSpans().slice()
  await scoring.shutdown()
  const ledger = scoring.ledger()
  const points = resourceMetrics.scopeMetrics.flatMap(({ metrics }) =>
    metrics.flatMap(({ descriptor, dataPoints }) =>
      dataPoints.map(({ attributes, value }) => JSON.stringify([descriptor.name, attributes, rounded(value)])),
    ),
  )
  return {
    key: `${library} (${name})`,
    facts: {
      spans: finished.map(scoresOn).toSorted(),
      events: logs
        .getFinishedLogRecords()
        .map(({ eventName, attributes }) => JSON.stringify([eventName, sorted(attributes)]))
        .toSorted(),
      metrics: points.toSorted(),
      ledger,
    },
    counts: {
      'spans handed on': finished.length,
      scored: sum(ledger.scorers, 'scored'),
      skipped: sum(ledger.scorers, 'skipped'),
      failed: sum(ledger.scorers, 'failed'),
      'never accounted for': sum(ledger.scorers, 'pending'),
    },
  }
}

function scorersOf({ scorers }: Build): ScoringOptions['scorers'] {
  return [
    scorers.createAnswerPresentScorer(),
    scorers.createHallucinatedToolScorer(),
    scorers.createKeywordCoverageScorer({ keywords: ['weather', ['sunny', 'rain']] }),
    scorers.createLoopScorer(),
    scorers.createOutputFormatScorer({ json: true }),
    scorers.createRunLimitsScorer({ maxSteps: 2, maxInputTokens: 100 }),
    scorers.createToolArgumentsScorer(),
    scorers.createToolCallAccuracyScorerCode({ expectedTool: 'weather-tool' }),
    scorers.createToolErrorsScorer(),
    scorers.createTrajectoryScorer({ expected: ['weather-tool'] }),
    rawScorer({ id: 'judged', kind: 'judge', inline: false, assess: async () => ({ status: 'scored', value: 0.75 }) }),
    rawScorer({
      id: 'broken',
      kind: 'code',
      inline: true,
      assess: () => {
        throw new Error('It is broken.')
      },
    }),
  ]
}

/** The scores on a span, or the whole of a span that scoring wrote. */
function scoresOn({ name, attributes, instrumentationScope, status }: ReadableSpan): string {
  return JSON.stringify([name, instrumentationScope.name, status.code, sorted(attributes)])
}

/** Attributes in the order of their keys, without how long anything took. */
function sorted(attributes: object): unknown {
  return Object.entries(attributes)
    .filter(([key]) => !key.endsWith('_ms'))
    .map(([key, value]) => [key, rounded(value)])
    .toSorted(([left], [right]) => (String(left) < String(right) ? -1 : 1))
}

/** Sums of numbers depend a little on their order. */
function rounded(value: unknown): unknown {
  if (typeof value === 'number') return Number(value.toPrecision(9))
  if (typeof value === 'object' && value !== null && 'sum' in value && 'count' in value) {
    return [rounded(value.sum), value.count]
  }
  return value
}

function sum(rows: Readonly<Record<string, object>>, key: string): number {
  return Object.values(rows).reduce((total, row) => total + Number(Reflect.get(row, key)), 0)
}

class Reader extends MetricReader {
  constructor() {
    super({ aggregationTemporalitySelector: () => AggregationTemporality.DELTA })
  }
  protected async onForceFlush() {}
  protected async onShutdown() {}
}
