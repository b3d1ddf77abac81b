import { createNoopMeter } from '@opentelemetry/api'
import type { Attributes, Counter, Histogram, Meter, MetricOptions, ObservableCallback } from '@opentelemetry/api'

import { ScoreMetrics } from '../../src/emit/score-metrics.ts'
import type { Evaluation, Score } from '../../src/model/score.ts'
import { AGENT_RUN_FACTS, plain } from '../../src/model/facts.ts'
import { toRunInput } from '../../src/scoring/given/run-input.ts'
import { code, page, table } from './markdown.ts'

interface Instrument {
  readonly kind: 'counter' | 'histogram' | 'gauge'
  readonly options: MetricOptions
  readonly attributes: Set<string>
  /** Calls the callbacks of a gauge. */
  observe?: () => void
}

const MEANS = `
With w = 1/probability of a run, and y = the position of its score:

|                | formula                                                   | in the sums                                       |
| -------------- | --------------------------------------------------------- | ------------------------------------------------- |
| mean ȳ (Hájek) | Σwy / Σw                                                  | \`wy / w\`                                          |
| its variance   | Σw²(y − ȳ)² / (Σw)²                                       | \`(w2y2 − 2ȳ·w2y + ȳ²·w2) / w²\`, with w² = \`w · w\` |
| 95 % interval  | Wilson's, with n = ȳ(1 − ȳ) / variance, at most (Σw)²/Σw² |                                                   |
`.trim()

/** `docs/reference/metrics.md`: every instrument, with the attributes that a recording meter saw. */
export function metricsPage(): string {
  const instruments = recordedInstruments()
  return page(
    'Metrics',
    'Meter `spanscore`. In every metric a score is its position in the range of the scorer, from 0 to 1, turned so that higher is better.',
    'Attributes that `metricAttributes` names are added. An attribute is absent if its value is unknown. [Numbers](../numbers.md) says how far to trust them.',
    table(
      ['metric', 'kind', 'unit', 'meaning', 'attributes'],
      [...instruments].map(([name, { kind, options, attributes }]) => [
        code(name),
        kind,
        code(options.unit ?? '1'),
        `${options.description ?? ''}${bucketsOf(options)}`,
        [...attributes].toSorted().map(code).join(', '),
      ]),
    ),
    '## Means from the sums',
    MEANS,
    'A [scorer of calls](../scorers.md#levels) adds each run once, because its calls share the outcome: with n scored calls whose positions sum to t, it adds w·n to `w`, w·t to `wy`, (w·n)² to `w2`, w²·n·t to `w2y` and w²·t² to `w2y2`. The formulas stay the same.',
    'The interval is for the mean of many more runs of the agent, so it has a width even when every run is scored.',
    '## Limits',
    'Agents and models have 100 values each, and judge models 20; further ones are `other`. Half of the places of agents and models are for names that come a third time.',
    '## Other metrics',
    'The service and its workers send [metrics of their own](server.md#metrics).',
    '`spanscore canary` sends two gauges of its own: [calibrating judges](../calibration.md#4-the-canary).',
  )
}

function bucketsOf({ advice }: MetricOptions): string {
  const boundaries = advice?.explicitBucketBoundaries
  return boundaries === undefined ? '' : ` Buckets: ${boundaries.join(', ')}.`
}

/** Emits scored, skipped and failed evaluations, and records which instrument gets which attributes. */
function recordedInstruments(): ReadonlyMap<string, Instrument> {
  const found = new Map<string, Instrument>()
  const provider = { getMeter: () => recordingMeter(found) }
  const metrics = new ScoreMetrics({
    gauges: { queueSize: () => 0, openRuns: () => 0, heldSpans: () => 0, budgetUsedRatio: () => 0 },
    scorers: [
      {
        id: 'id',
        alerts: { drop_severity: 1 },
        about: { better: 'higher' },
        scorer: { description: 'What it looks for.' },
      },
    ],
    traits: true,
    nowMs: () => 0,
    meterProvider: () => provider,
    guard: (_, run) => run(),
    later: () => {},
  })
  const run = plain(toRunInput({ input: 'Why?', output: 'Because.' }).run, AGENT_RUN_FACTS)
  const named = {
    ...run,
    agent: { name: 'agent' },
    models: ['model'],
    toolCalls: [],
    systemInstructions: 'Help.',
    availableTools: [{ name: 'tool' }],
  }
  for (const score of SCORES) metrics.record({ evaluation: evaluationOf(score), run: named, extra: {}, target: SPAN })
  metrics.countFeedback('thumbs', 'fail')
  metrics.countRun('closed', 'agent')
  metrics.countConversation('closed', 'agent')
  metrics.flush()
  for (const { observe } of found.values()) observe?.()
  return found
}

const SPAN = { traceId: '0'.repeat(31) + '1', spanId: '0'.repeat(15) + '1', traceFlags: 1 }

const SCORES: readonly Score[] = [
  { status: 'scored', value: 0, label: 'fail' },
  { status: 'scored', value: 1, label: 'pass' },
  { status: 'skipped', reason: 'no-output', message: '' },
  { status: 'failed', code: 'judge-http', message: '' },
]

function evaluationOf(score: Score): Evaluation {
  return {
    scorer: { id: 'id', version: '1', kind: 'judge', range: [0, 1], better: 'higher', passAt: 1, level: 'tool-call' },
    runId: 'run',
    revision: 1,
    complete: true,
    probability: 1,
    durationMs: 1,
    judge: { model: 'provider/model', calls: 1, usage: { inputTokens: 1, outputTokens: 1 }, costUsd: 1 },
    score,
  }
}

function recordingMeter(found: Map<string, Instrument>): Meter {
  const note = (kind: Instrument['kind'], name: string, options: MetricOptions = {}) => {
    const instrument = { kind, options, attributes: new Set<string>() }
    found.set(name, instrument)
    return (attributes: Attributes = {}) => {
      for (const key of Object.keys(attributes)) instrument.attributes.add(key)
    }
  }
  const noop: Meter = createNoopMeter()
  return Object.assign(Object.create(noop), {
    createCounter: (name: string, options?: MetricOptions): Counter => {
      const see = note('counter', name, options)
      return { add: (_, attributes) => see(attributes) }
    },
    createHistogram: (name: string, options?: MetricOptions): Histogram => {
      const see = note('histogram', name, options)
      return { record: (_, attributes) => see(attributes) }
    },
    createObservableGauge: (name: string, options?: MetricOptions) => {
      const see = note('gauge', name, options)
      const addCallback = (callback: ObservableCallback): void => {
        const gauge = found.get(name)
        if (gauge) gauge.observe = () => void callback({ observe: (_, attributes) => see(attributes) })
      }
      return { addCallback, removeCallback: () => {} }
    },
  })
}
