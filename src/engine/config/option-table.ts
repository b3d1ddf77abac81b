import { DEFAULT_BUDGET } from '../../sampling/budget.ts'
import type { BudgetLimits } from '../../sampling/budget.ts'
import type { EmitOptions } from '../../emit/emitter.ts'
import { callback, wholeNumber, flag, group, limit, milliseconds, nameOrNames, names } from './option-kinds.ts'
import { objectWith, oneOf, probability, sampleRate, text, upstream } from './option-kinds.ts'
import type { OptionKind } from './option-kinds.ts'
import type { ScorerAlerts, ScorerEntry, ScoringOptions } from './scoring-options.ts'

/** One option. Validation, defaults, environment variables and the reference page are derived from this table. */
export interface OptionRow<Value = unknown> {
  readonly kind: OptionKind
  /** Only for what differs from deployment to deployment, and whose value a text can express. */
  readonly variable?: `SPANSCORE_${string}`
  /** One or two sentences, equal to the option's TSDoc. */
  readonly doc: string
  readonly default?: Value
  /** Returns the default if it depends on the environment. */
  readonly defaultIn?: (environment: Readonly<Record<string, string | undefined>>) => Value
  /** What the reference shows as the default, if the value itself is not clear. */
  readonly defaultDoc?: string
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
    doc: 'Maximum judge calls per minute. About half of them may come in one burst. Above the limit, rates are reduced, and the weights of scored runs compensate for it.',
  },
  tokensPerHour: {
    kind: limit,
    variable: 'SPANSCORE_BUDGET_TOKENS_PER_HOUR',
    default: DEFAULT_BUDGET.tokensPerHour,
    doc: 'Maximum input and output tokens of judges per hour.',
  },
  usdPerDay: {
    kind: limit,
    variable: 'SPANSCORE_BUDGET_USD_PER_DAY',
    default: DEFAULT_BUDGET.usdPerDay,
    doc: 'Maximum US dollars per 24 hours. Models without a known price do not count.',
  },
  share: {
    kind: probability,
    variable: 'SPANSCORE_BUDGET_SHARE',
    default: DEFAULT_BUDGET.share,
    doc: 'The share of all limits that this process may use, such as 1/40 for forty processes.',
  },
}

/** Which signals are written. */
export const emitTable: OptionRows<EmitOptions> = {
  attributes: {
    kind: flag,
    default: true,
    doc: "Writes scores as attributes of the agent's span.",
  },
  events: {
    kind: flag,
    default: true,
    doc: 'Writes scores as `gen_ai.evaluation.result` log events.',
  },
  lateSpans: {
    kind: oneOf('late', 'always', 'never'),
    default: 'late',
    doc: "Writes scores as spans `evaluate <id>`: only if the score is not on the agent's span (`late`), `always`, or `never`.",
  },
  metrics: {
    kind: flag,
    default: true,
    doc: 'Writes the `spanscore.*` metrics.',
  },
  explanations: {
    kind: oneOf('all', 'code', 'none'),
    variable: 'SPANSCORE_EMIT_EXPLANATIONS',
    default: 'all',
    doc: 'Whose explanations leave the process: those of all scorers, of code scorers only, or none.',
  },
}

/** A scorer and the runs that it scores. */
export const scorerEntryTable: OptionRows<ScorerEntry> = {
  scorer: {
    kind: {
      ...objectWith('assess'),
      expected: 'a scorer, as createScorer or a prebuilt factory makes it',
    },
    defaultDoc: 'required',
    doc: 'The scorer.',
  },
  id: {
    kind: { expected: 'a match of ^[a-z][a-z0-9_]*$', accepts: isScorerId },
    defaultDoc: "the scorer's",
    doc: "Replaces the scorer's id, `^[a-z][a-z0-9_]*$`, so that two scorers of one kind can be used together.",
  },
  agent: {
    kind: nameOrNames,
    defaultDoc: 'all agents',
    doc: 'Names of the agents that are scored, nested agents included.',
  },
  scope: {
    kind: oneOf('root', 'every-agent'),
    defaultDoc: "the processor's",
    doc: "Replaces the processor's `scope`.",
  },
  when: { kind: callback, defaultDoc: 'all runs', doc: 'Decides whether a finished run is scored.' },
  sample: { kind: sampleRate, defaultDoc: "the processor's", doc: "Replaces the processor's `sample`." },
  passAt: {
    kind: { expected: "a number within the scorer's range", accepts: (value) => typeof value === 'number' },
    defaultDoc: "the scorer's",
    doc: "The pass mark in the scorer's own units.",
  },
  alerts: {
    kind: group,
    defaultDoc: 'a ticket for a drop, and no target',
    doc: 'How Prometheus alerts on the scores.',
  },
}

/** How Prometheus alerts on the scores of a scorer. */
export const alertTable: OptionRows<ScorerAlerts> = {
  target: {
    kind: { expected: 'a number', accepts: Number.isFinite },
    defaultDoc: 'none: no target alert',
    doc: "The level that is good enough: a share of runs from 0 to 1, or a mean in the scorer's own units.",
  },
  on: {
    kind: oneOf('passed', 'mean'),
    default: 'passed',
    doc: 'What `target` and `usual` are levels of: the share of runs that passed, or the mean score.',
  },
  severity: {
    kind: oneOf('page', 'ticket', 'off'),
    default: 'ticket',
    doc: 'What happens if scores are below the target.',
  },
  drop: {
    kind: oneOf('page', 'ticket', 'off'),
    default: 'ticket',
    doc: 'What happens if scores drop below what is usual.',
  },
  usual: {
    kind: { expected: 'a number', accepts: Number.isFinite },
    defaultDoc: 'learnt from the last 14 days',
    doc: "The usual level, such as that of a season's worst hour, in the units of `target`.",
  },
  runsTogether: {
    kind: wholeNumber(1),
    default: 1,
    doc: 'The largest number of runs that share a cause, such as the turns of a conversation.',
  },
}

/** All options of `ScoringSpanProcessor`, `attachScoring` and the configuration file. */
export const optionTable: OptionRows<ScoringOptions> = {
  scorers: {
    kind: {
      expected: 'a list of at least one scorer, or { scorer, … }',
      accepts: (value) => Array.isArray(value) && value.length > 0,
    },
    defaultDoc: 'required',
    doc: 'The scorers, or scorers with the runs that they are for. Their ids must differ.',
  },
  scope: {
    kind: oneOf('root', 'every-agent'),
    default: 'root',
    doc: 'Which agents are scored: the outermost agent of each run, or nested agents too.',
  },
  sample: {
    kind: sampleRate,
    variable: 'SPANSCORE_SAMPLE',
    default: 1,
    doc: 'The share of runs to score: 0, or from 0.001 to 1, or a function of the finished run that returns it.',
  },
  sampleSalt: {
    kind: text,
    variable: 'SPANSCORE_SAMPLE_SALT',
    defaultDoc: 'none',
    doc: 'A secret that prevents callers from choosing, by their trace ids, whether they are scored. Processes with the same salt choose the same traces.',
  },
  upstreamProbability: {
    kind: upstream,
    variable: 'SPANSCORE_UPSTREAM_PROBABILITY',
    defaultDoc: 'none: means describe the runs that this process saw',
    doc: "The share of traces that the tracer's own sampler keeps, or `'tracestate'` to read it from each trace.",
  },
  budget: {
    kind: group,
    rows: budgetTable,
    defaultDoc: '60 calls a minute, 10 US dollars a day',
    doc: 'The limits of judges, per process, over rolling windows. `Infinity` removes a limit.',
  },
  concurrency: {
    kind: wholeNumber(1),
    default: 8,
    doc: 'Maximum number of judge scores in progress at the same time.',
  },
  queueSize: { kind: wholeNumber(0), default: 1000, doc: 'Maximum number of scores in the queue.' },
  timeoutMs: {
    kind: milliseconds,
    default: 20_000,
    doc: 'Maximum milliseconds for one score, including retries.',
  },
  next: {
    kind: objectWith('onStart', 'onEnd', 'forceFlush', 'shutdown'),
    defaultDoc: 'none',
    doc: 'The next span processor. Agent spans are held until their scores are in, then handed on to it.',
  },
  holdMs: { kind: milliseconds, default: 5000, doc: 'Maximum milliseconds that an agent span is held; 0 holds none.' },
  settleMs: {
    kind: milliseconds,
    default: 2000,
    doc: 'Milliseconds that a run waits for its recognised spans that are still open.',
  },
  maxSpansPerRun: {
    kind: wholeNumber(1),
    default: 2000,
    doc: 'Maximum number of spans that are kept of one run. A run is put together in one turn of the event loop, which takes up to about 10 ms for each 1,000 spans.',
  },
  memoryBytes: {
    kind: limit,
    variable: 'SPANSCORE_MEMORY_BYTES',
    default: 64 * 1024 * 1024,
    defaultDoc: '67108864 (64 MiB)',
    doc: 'Maximum bytes, estimated, that open runs take, and runs that wait for scores as much again. A span counts for 2 KiB and its texts. Above it, the open run is evicted in which nothing has happened for longest.',
  },
  maxIdleMs: {
    kind: limit,
    default: 3_600_000,
    defaultDoc: '3600000 (an hour)',
    doc: 'Milliseconds without the start or the end of a span in its trace after which an open run is evicted.',
  },
  maxSyncBytes: {
    kind: limit,
    default: 256 * 1024,
    defaultDoc: '262144 (256 KiB)',
    doc: 'Bytes of content that scorers read of one run, above which code scorers run after `end()`. Requests that repeat earlier ones count once, each span 512, each value of long JSON 8.',
  },
  flushTimeoutMs: {
    kind: milliseconds,
    defaultIn: (environment) => (environment['AWS_LAMBDA_FUNCTION_NAME'] === undefined ? 10_000 : 0),
    defaultDoc: '10000; 0 on AWS Lambda',
    doc: 'Milliseconds that judges and large runs may delay `forceFlush`.',
  },
  shutdownTimeoutMs: {
    kind: milliseconds,
    default: 5000,
    doc: 'Milliseconds that judges and large runs may delay `shutdown`.',
  },
  redact: {
    kind: callback,
    defaultDoc: 'none',
    doc: 'Returns the run as judges may see it. If it throws, no judge is asked.',
  },
  stripContent: {
    kind: flag,
    variable: 'SPANSCORE_STRIP_CONTENT',
    default: false,
    doc: 'Removes message and tool content from spans before they are handed on. Needs `next` or `attachScoring`.',
  },
  scoreUnsampled: {
    kind: flag,
    default: false,
    doc: 'Also asks judges about runs that are recorded but not sampled.',
  },
  rescore: {
    kind: flag,
    default: false,
    doc: 'Asks judges again if spans arrive after a run was scored.',
  },
  metricAttributes: {
    kind: names,
    default: [],
    defaultDoc: 'none',
    doc: 'Resource or agent-span attributes that are copied to metrics and events: 50 values each, then `other`.',
  },
  emit: {
    kind: group,
    rows: emitTable,
    defaultDoc: "all signals; late spans only if the score is not on the agent's span",
    doc: 'Which signals are written.',
  },
  onScore: {
    kind: callback,
    defaultDoc: 'none',
    doc: 'Called with every score, every failure, and every skip that sampling or filters did not choose.',
  },
  onJudgeCall: {
    kind: callback,
    defaultDoc: 'none',
    doc: 'Called with the prompt, reply and usage of every judge call.',
  },
  strict: {
    kind: flag,
    default: false,
    doc: "Throws at construction if a judge's key or package is missing.",
  },
  tracerProvider: {
    kind: objectWith('getTracer'),
    defaultDoc: 'the global one, looked up at each emission',
    doc: 'The tracer provider to attach to, which also writes late spans.',
  },
  meterProvider: {
    kind: objectWith('getMeter'),
    defaultDoc: 'the global one, looked up at each emission',
    doc: 'The meter provider for metrics.',
  },
  loggerProvider: {
    kind: objectWith('getLogger'),
    defaultDoc: 'the global one of either Logs API, looked up at each emission',
    doc: 'The logger provider for events.',
  },
}

function isScorerId(value: unknown): boolean {
  return typeof value === 'string' && /^[a-z][a-z0-9_]*$/.test(value)
}
