import { DEFAULT_BUDGET } from '../../sampling/budget.ts'
import type { BudgetLimits } from '../../sampling/budget.ts'
import type { EmitOptions } from '../../emit/emitter.ts'
import {
  callback,
  duration,
  wholeNumber,
  flag,
  group,
  limit,
  milliseconds,
  nameOrNames,
  names,
} from './option-kinds.ts'
import { objectWith, oneOf, probability, sampleRate, text, upstream } from './option-kinds.ts'
import type { OptionKind } from './option-kinds.ts'
import type { ScorerAlerts, ScorerEntry, ScoringOptions, ServiceAlerts } from './scoring-options.ts'

/** One option: what is valid, its default and its variable. Its TSDoc is what the reference says. */
export interface OptionRow<Value = unknown> {
  readonly kind: OptionKind
  /** Only for what differs from deployment to deployment, and whose value a text can express. */
  readonly variable?: `SPANSCORE_${string}`
  readonly default?: Value
  /** Returns the default if it depends on the environment. */
  readonly defaultIn?: (environment: Readonly<Record<string, string | undefined>>) => Value
  /** The nested options, if the option is an object. */
  readonly rows?: Readonly<Record<string, OptionRow>>
}

/** Rows for all properties of an options object. */
export type OptionRows<Options> = { readonly [Name in keyof Options]-?: OptionRow<Options[Name]> }

/** The limits of judges. */
export const budgetTable: OptionRows<BudgetLimits> = {
  callsPerMinute: {
    kind: limit,
    variable: 'SPANSCORE_BUDGET_CALLS_PER_MINUTE',
    default: DEFAULT_BUDGET.callsPerMinute,
  },
  tokensPerHour: { kind: limit, variable: 'SPANSCORE_BUDGET_TOKENS_PER_HOUR', default: DEFAULT_BUDGET.tokensPerHour },
  usdPerDay: { kind: limit, variable: 'SPANSCORE_BUDGET_USD_PER_DAY', default: DEFAULT_BUDGET.usdPerDay },
  share: { kind: probability, variable: 'SPANSCORE_BUDGET_SHARE', default: DEFAULT_BUDGET.share },
}

/** Which signals are written. */
export const emitTable: OptionRows<EmitOptions> = {
  attributes: { kind: flag, default: true },
  events: { kind: flag, default: true },
  lateSpans: { kind: oneOf('late', 'always', 'never'), default: 'late' },
  metrics: { kind: flag, default: true },
  traits: { kind: flag, default: true },
  explanations: { kind: oneOf('all', 'code', 'none'), variable: 'SPANSCORE_EMIT_EXPLANATIONS', default: 'all' },
}

/** A scorer and the runs that it scores. */
export const scorerEntryTable: OptionRows<ScorerEntry> = {
  scorer: {
    kind: {
      ...objectWith('assess'),
      expected: 'a scorer, as createScorer or a prebuilt factory makes it',
    },
  },
  id: { kind: { expected: 'a match of ^[a-z][a-z0-9_]*$', accepts: isScorerId } },
  agent: { kind: nameOrNames },
  scope: { kind: oneOf('root', 'every-agent') },
  when: { kind: callback },
  sample: { kind: sampleRate },
  passAt: { kind: { expected: "a number within the scorer's range", accepts: (value) => typeof value === 'number' } },
  alerts: { kind: group },
}

/** How Prometheus alerts on the scores of a scorer. */
export const alertTable: OptionRows<ScorerAlerts> = {
  target: { kind: { expected: 'a number', accepts: Number.isFinite } },
  on: { kind: oneOf('passed', 'mean'), default: 'passed' },
  severity: { kind: oneOf('page', 'ticket', 'off'), default: 'ticket' },
  drop: { kind: oneOf('page', 'ticket', 'off'), default: 'ticket' },
  any: { kind: oneOf('page', 'ticket', 'off'), default: 'off' },
  usual: { kind: { expected: 'a number', accepts: Number.isFinite } },
  runsTogether: { kind: wholeNumber(1), default: 1 },
}

/** What Prometheus alerts on of a whole service. */
export const serviceAlertTable: OptionRows<ServiceAlerts> = { quiet: { kind: duration } }

/** All options of `ScoringSpanProcessor`, `attachScoring` and the configuration file. */
export const optionTable: OptionRows<ScoringOptions> = {
  scorers: {
    kind: {
      expected: 'a list of at least one scorer, or { scorer, … }',
      accepts: (value) => Array.isArray(value) && value.length > 0,
    },
  },
  scope: { kind: oneOf('root', 'every-agent'), default: 'root' },
  sample: { kind: sampleRate, variable: 'SPANSCORE_SAMPLE', default: 1 },
  sampleSalt: { kind: text, variable: 'SPANSCORE_SAMPLE_SALT' },
  upstreamProbability: { kind: upstream, variable: 'SPANSCORE_UPSTREAM_PROBABILITY' },
  budget: { kind: group, rows: budgetTable },
  concurrency: { kind: wholeNumber(1), default: 8 },
  queueSize: { kind: wholeNumber(0), default: 1000 },
  timeoutMs: { kind: milliseconds, default: 20_000 },
  next: { kind: objectWith('onStart', 'onEnd', 'forceFlush', 'shutdown') },
  holdMs: { kind: milliseconds, default: 5000 },
  settleMs: { kind: milliseconds, default: 2000 },
  maxSpansPerRun: { kind: wholeNumber(1), default: 2000 },
  memoryBytes: { kind: limit, variable: 'SPANSCORE_MEMORY_BYTES', default: 64 * 1024 * 1024 },
  maxIdleMs: { kind: limit, default: 3_600_000 },
  maxSyncBytes: { kind: limit, default: 256 * 1024 },
  flushTimeoutMs: {
    kind: milliseconds,
    defaultIn: (environment) => (environment['AWS_LAMBDA_FUNCTION_NAME'] === undefined ? 10_000 : 0),
  },
  shutdownTimeoutMs: { kind: milliseconds, default: 5000 },
  redact: { kind: callback },
  stripContent: { kind: flag, variable: 'SPANSCORE_STRIP_CONTENT', default: false },
  handOver: { kind: names, default: [] },
  scoreUnsampled: { kind: flag, default: false },
  rescore: { kind: flag, default: false },
  metricAttributes: { kind: names, default: [] },
  alerts: { kind: group, rows: serviceAlertTable },
  emit: { kind: group, rows: emitTable },
  onScore: { kind: callback },
  onJudgeCall: { kind: callback },
  strict: { kind: flag, default: false },
  tracerProvider: { kind: objectWith('getTracer') },
  meterProvider: { kind: objectWith('getMeter') },
  loggerProvider: { kind: objectWith('getLogger') },
}

function isScorerId(value: unknown): boolean {
  return typeof value === 'string' && /^[a-z][a-z0-9_]*$/.test(value)
}
