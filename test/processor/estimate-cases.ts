/**
 * Runs whose true mean is known, and the sums that are exported about them, through the real processor, its budget and queue, and a real
 * meter provider.
 */
import { createTraceState, ROOT_CONTEXT, TraceFlags, trace } from '@opentelemetry/api'
import type { Context } from '@opentelemetry/api'
import { AggregationTemporality, MeterProvider, MetricReader } from '@opentelemetry/sdk-metrics'
import { TracerProvider } from '@opentelemetry/sdk-trace'

import { createRandom } from '../../scripts/simulate/random.ts'
import type { AgentRun } from '../../src/model/agent-run.ts'
import type { ScoringOptions } from '../../src/engine/config/scoring-options.ts'
import { ScoringSpanProcessor } from '../../src/processor/scoring-span-processor.ts'
import { MovedClock } from '../corpus/moved-clock.ts'
import { weightedMean } from '../../src/sampling/weighted-mean.ts'
import { rawScorer } from '../fuzz/raw-scorer.ts'

const RUNS = 750

class Reader extends MetricReader {
  constructor() {
    super({ aggregationTemporalitySelector: () => AggregationTemporality.DELTA })
  }
  protected async onForceFlush() {}
  protected async onShutdown() {}
}

type Sums = Record<'w' | 'wy' | 'wy2' | 'w2' | 'w2y' | 'w2y2' | 'chosen', number>

/** The sums since the last collection. */
async function collect(reader: Reader): Promise<Sums> {
  const sums: Sums = { w: 0, wy: 0, wy2: 0, w2: 0, w2y: 0, w2y2: 0, chosen: 0 }
  const { resourceMetrics } = await reader.collect()
  for (const { descriptor, dataPoints } of resourceMetrics.scopeMetrics.flatMap(({ metrics }) => metrics)) {
    const name = descriptor.name === 'spanscore.chosen.w' ? 'chosen' : descriptor.name.replace('spanscore.sum.', '')
    if (!(name in sums)) continue
    for (const { value } of dataPoints) sums[name as keyof Sums] += Number(value)
  }
  return sums
}

/** The score of a run, which is the agent's answer. */
const worth = (run: AgentRun): number => Number(/y=([\d.]+)/.exec(run.output ?? '')?.[1])

/** One way of sampling, and the traffic that meets it. */
export interface EstimateCase {
  readonly options: (random: () => number) => Partial<ScoringOptions>
  readonly kind?: 'code' | 'judge'
  readonly better?: 'lower'
  /** Whether a judge fails on a run. */
  readonly fails?: (y: number, random: () => number) => boolean
  /** The share of runs that are errors. */
  readonly errors?: number
  readonly parent?: (index: number) => Context
  /** The processors that receive the runs in turn; if they restart, each period begins with new ones. */
  readonly processes?: number
  /** Each period has processes of its own. */
  readonly restarts?: boolean
  /** Runs are lost, and no weight compensates for them. */
  readonly loses?: boolean
  /** Runs of a period. @default 750 */
  readonly runs?: number
  /** @default 40 */
  readonly periods?: number
  /** Milliseconds between two runs; without it they come at one moment. */
  readonly paceMs?: number
}

const unlimited = { callsPerMinute: Number.POSITIVE_INFINITY, usdPerDay: Number.POSITIVE_INFINITY }

/** Ids that are the same in every run of the test, because sampling depends on them. */
function hex(length: number, random: () => number): string {
  let id = ''
  while (id.length < length) id += '0123456789abcdef'[Math.floor(random() * 16)]
  return id
}

const callers = createRandom(99)

function remote(ot?: string): Context {
  return trace.setSpanContext(ROOT_CONTEXT, {
    traceId: hex(32, callers),
    spanId: '2'.repeat(16),
    traceFlags: TraceFlags.SAMPLED,
    isRemote: true,
    ...(ot !== undefined && { traceState: createTraceState(`ot=${ot}`) }),
  })
}

const strata = (run: AgentRun) => (run.status === 'error' ? 1 : 0.1)

/** What differs between the cases: how runs are sampled, how many come, and what fails. */
export const CASES: Readonly<Record<string, EstimateCase>> = {
  'every run': { options: () => ({}) },
  'a fixed rate': { options: () => ({ sample: 0.2 }) },
  'all errors and a tenth of the rest': { options: () => ({ sample: strata }), errors: 0.1 },
  'lower is better': { options: () => ({ sample: strata }), errors: 0.1, better: 'lower' },
  'judges at a fixed rate': { options: () => ({ sample: 0.3, budget: unlimited }), kind: 'judge' },
  'remote parents, with and without tracestate': {
    options: () => ({ sample: strata }),
    errors: 0.1,
    parent: (index) => (index % 2 === 0 ? remote('th:8') : remote()),
  },
  'a process that restarts': { options: () => ({ sample: strata }), errors: 0.1, restarts: true },
  'two processes': { options: () => ({ sample: strata }), errors: 0.1, processes: 2 },
  'few runs at a fixed rate': { options: () => ({ sample: 0.3 }), runs: 60, periods: 300 },
  'few runs, all errors and a tenth of the rest': {
    options: () => ({ sample: strata }),
    errors: 0.1,
    runs: 250,
    periods: 200,
  },
  'judges that fail on what is bad': {
    options: () => ({ budget: unlimited }),
    kind: 'judge',
    fails: (y, random) => random() < (y > 0.5 ? 0.03 : 0.3),
    restarts: true,
    loses: true,
    runs: 400,
    periods: 30,
  },
  'a queue that is full': {
    options: () => ({ budget: unlimited, queueSize: 50, concurrency: 2 }),
    kind: 'judge',
    // Errors must not be judged before the others.
    errors: 0.2,
    restarts: true,
    loses: true,
    runs: 400,
    periods: 30,
  },
  'a burst of ten times the budget': {
    options: () => ({ budget: { callsPerMinute: 60 } }),
    kind: 'judge',
    restarts: true,
    runs: 600,
    periods: 100,
  },
  'a burst of fifty times the budget': {
    options: () => ({ budget: { callsPerMinute: 60 } }),
    kind: 'judge',
    restarts: true,
    loses: true,
    runs: 3000,
    periods: 30,
  },
  'five times the budget for hours': {
    options: () => ({ budget: { callsPerMinute: 60 } }),
    kind: 'judge',
    paceMs: 200,
    periods: 30,
  },
  'twenty times a budget of three calls a minute for hours': {
    options: () => ({ budget: { callsPerMinute: 3 } }),
    kind: 'judge',
    paceMs: 1000,
    runs: 1500,
    periods: 40,
  },
}

/** How well the exported sums describe all runs. */
export interface Estimate {
  /** The mean over all periods of the estimated mean, less the true one. */
  readonly bias: number
  /** The share of runs that were chosen whose scores arrived. */
  readonly accounted: number
  /** The share of periods with an interval. */
  readonly withInterval: number
  /** The share of these whose interval holds the true mean. */
  readonly covered: number
}

/** Plays a case on the clock of the process, which it replaces. */
export async function estimate(name: string): Promise<Estimate> {
  const given = CASES[name]!
  using clock = new MovedClock(1_790_000_000_000)
  const random = createRandom(name.length * 7919)
  let bias = 0
  let covered = 0
  let periodsWithInterval = 0
  let chosen = 0
  let scored = 0
  let runs: Processes | undefined
  const periods = given.periods ?? 40
  for (let period = 0; period < periods; period += 1) {
    if (runs === undefined || given.restarts === true) {
      await runs?.stop()
      runs = new Processes(given, random)
    }
    let truth = 0
    const count = given.runs ?? RUNS
    for (let index = 0; index < count; index += 1) {
      const isError = random() < (given.errors ?? 0)
      const y = isError ? (random() < 0.2 ? 1 : 0) : random() < 0.85 ? 1 : 0
      truth += (given.better === 'lower' ? 1 - y : y) / count
      runs.run(index, y, isError, given.parent?.(index) ?? ROOT_CONTEXT)
      if (given.paceMs !== undefined) await clock.moveBy(given.paceMs)
    }
    const sums = await runs.collect()
    const mean = weightedMean(sums)!
    bias += (mean.mean - truth) / periods
    chosen += sums.chosen
    scored += sums.w
    if (mean.n < 10) continue
    periodsWithInterval += 1
    const slack = 1 - sums.w / sums.chosen
    if (mean.interval95[0] - slack <= truth && truth <= mean.interval95[1] + slack) covered += 1
  }
  await runs?.stop()
  return {
    bias,
    accounted: scored / chosen,
    withInterval: periodsWithInterval / periods,
    covered: covered / periodsWithInterval,
  }
}

const messages = (role: string, content: string) => JSON.stringify([{ role, parts: [{ type: 'text', content }] }])

/** One or two processes that score the same agent, and send to one backend. */
class Processes {
  readonly #each: { processor: ScoringSpanProcessor; provider: TracerProvider; reader: Reader }[]

  constructor(given: EstimateCase, random: () => number) {
    const isJudge = given.kind === 'judge'
    const assess = (run: AgentRun) => {
      const y = worth(run)
      if (given.fails?.(y, random) === true) throw new Error('the judge is out')
      return { status: 'scored' as const, value: y }
    }
    const plain = rawScorer({
      id: isJudge ? 'fitting' : 'exact',
      kind: isJudge ? 'judge' : 'code',
      inline: !isJudge,
      assess: isJudge ? async (run: AgentRun) => assess(run) : assess,
      estimate: () => ({ calls: 1, tokens: 100, costUsd: 0.001 }),
    })
    const scorer = given.better === undefined ? plain : { ...plain, better: given.better }
    const idGenerator = { generateTraceId: () => hex(32, random), generateSpanId: () => hex(16, random) }
    this.#each = Array.from({ length: given.processes ?? 1 }, () => {
      const reader = new Reader()
      const processor = new ScoringSpanProcessor({
        scorers: [scorer],
        meterProvider: new MeterProvider({ readers: [reader] }),
        emit: { events: false, lateSpans: 'never' },
        queueSize: 100_000,
        ...given.options(random),
      })
      return { processor, reader, provider: new TracerProvider({ spanProcessors: [processor], idGenerator }) }
    })
  }

  run(index: number, y: number, isError: boolean, parent: Context): void {
    const { provider } = this.#each[index % this.#each.length]!
    const attributes = {
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.agent.name': 'a',
      'gen_ai.input.messages': messages('user', 'q'),
      'gen_ai.output.messages': messages('assistant', `y=${y}`),
    }
    const span = provider.getTracer('agents').startSpan('invoke_agent a', { attributes }, parent)
    if (isError) span.setStatus({ code: 2 })
    span.end()
  }

  async collect(): Promise<Sums> {
    const total: Sums = { w: 0, wy: 0, wy2: 0, w2: 0, w2y: 0, w2y2: 0, chosen: 0 }
    for (const { processor, reader } of this.#each) {
      await processor.forceFlush()
      const sums = await collect(reader)
      for (const key of Object.keys(total)) total[key as keyof Sums] += sums[key as keyof Sums]
    }
    return total
  }

  async stop(): Promise<void> {
    for (const { provider } of this.#each) await provider.shutdown()
  }
}
