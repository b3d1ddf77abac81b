// oxlint-disable unicorn/no-thenable -- a thenable that misbehaves is a fault worth trying
import {
  createAnswerPresentScorer,
  createHallucinatedToolScorer,
  createKeywordCoverageScorer,
  createLoopScorer,
  createOutputFormatScorer,
  createRunLimitsScorer,
  createToolArgumentsScorer,
  createToolCallAccuracyScorerCode,
  createToolErrorsScorer,
  createTrajectoryScorer,
} from 'spanscore'
import type { Scorer, ScoringOptions } from 'spanscore'

import type { Random } from './random.ts'
import { rawScorer } from './raw-scorer.ts'
import { strangeValue } from './values.ts'

/** How often each callback of a pipeline misbehaves. */
const MISBEHAVES = 0.3

/** A function that does what is asked, or throws, rejects, returns something strange, or never ends. */
function faulty(random: Random, good: (...args: never[]) => unknown): never {
  const fault = (): unknown => {
    switch (random.integer(5)) {
      case 0:
        throw strangeValue(random)
      case 1:
        return Promise.reject(strangeValue(random))
      case 2:
        return strangeValue(random)
      case 3:
        return new Promise(() => undefined)
      default:
        return {
          then: () => {
            throw strangeValue(random)
          },
        }
    }
  }
  const run = (...args: never[]): unknown => (random.chance(0.8) ? fault() : good(...args))
  return (random.chance(MISBEHAVES) ? run : good) as never
}

/** A function of a provider, which does what is asked, or throws. */
function throwing(random: Random, good: () => unknown): never {
  const fault = (): unknown => {
    if (random.chance(0.8)) throw strangeValue(random)
    return good()
  }
  return (random.chance(MISBEHAVES) ? fault : good) as never
}

/** A scorer that misbehaves now and then, in everything that is called of it. */
function faultyScorer(random: Random, id: string, kind: 'code' | 'judge', inline: boolean): Scorer {
  const good = () => ({ status: 'scored', value: random.next(), explanation: 'because' })
  return rawScorer({
    id,
    kind,
    inline,
    estimate: faulty(random, () => ({ calls: 1, tokens: 10 })),
    unavailable: faulty(random, () => undefined),
    assess: faulty(random, random.chance(0.5) ? good : async () => good()),
  })
}

/** Options of a pipeline in which anything may fail except the bookkeeping. */
export function faultyOptions(random: Random): Omit<ScoringOptions, 'next'> {
  const instrument = {
    record: throwing(random, () => undefined),
    addCallback: () => undefined,
    add: throwing(random, () => undefined),
  }
  const meter = {
    createHistogram: () => instrument,
    createCounter: () => instrument,
    createObservableGauge: () => instrument,
  }
  const logger = { emit: faulty(random, () => undefined) }
  return {
    scorers: [
      createAnswerPresentScorer(),
      createOutputFormatScorer({ json: true, allowFence: true, maxLength: 100 }),
      createLoopScorer({ maxIdentical: 1 }),
      createToolErrorsScorer(),
      createToolArgumentsScorer({ strict: random.chance(0.5) }),
      createHallucinatedToolScorer(),
      createTrajectoryScorer({ expected: ['x', { name: 'y', arguments: { a: 1 } }], mode: 'unordered' }),
      createToolCallAccuracyScorerCode({ expectedTool: 'weather-tool' }),
      createKeywordCoverageScorer({ keywords: ['a', ['b', 'c']] }),
      createRunLimitsScorer({ maxSteps: 3, maxInputTokens: 5, maxDurationMs: 3 }),
      {
        scorer: faultyScorer(random, 'custom', 'code', true),
        when: faulty(random, () => true),
        sample: faulty(random, () => 1),
      },
      faultyScorer(random, 'later', 'code', false),
      { scorer: faultyScorer(random, 'judged', 'judge', false), sample: random.pick([0.1, 0.5, 1]) },
    ],
    ...(random.chance(0.5) && {
      meterProvider: { getMeter: throwing(random, () => meter) },
      loggerProvider: { getLogger: throwing(random, () => logger) },
    }),
    ...(random.chance(0.3) && { redact: faulty(random, (run: unknown) => run) }),
    ...(random.chance(0.3) && { sampleSalt: 'a secret that processes share' }),
    onScore: faulty(random, () => undefined),
    onJudgeCall: faulty(random, () => undefined),
    emit: { lateSpans: random.pick(['late', 'always', 'never'] as const) },
    stripContent: random.chance(0.3),
    scope: random.pick(['root', 'every-agent'] as const),
    budget: { callsPerMinute: random.pick([0, 10, Infinity]), usdPerDay: Infinity },
    settleMs: random.pick([0, 5, 2000]),
    holdMs: random.pick([0, 5, 5000]),
    maxSpansPerRun: random.pick([1, 3, 2000, 2000, 2000]),
    memoryBytes: random.pick([0, 5000, 1e8, 1e8, 1e8]),
    maxSyncBytes: random.pick([0, 2000, 262_144]),
    queueSize: random.pick([0, 2, 1000]),
    concurrency: random.pick([1, 8]),
    rescore: random.chance(0.3),
    timeoutMs: 50,
    flushTimeoutMs: 100,
    shutdownTimeoutMs: 100,
  }
}
