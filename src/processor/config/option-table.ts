import { DEFAULT_BUDGET } from '../../sampling/budget.ts'
import type { BudgetLimits } from '../../sampling/budget.ts'
import type { EmitOptions } from '../../emit/emitter.ts'
import { callback, wholeNumber, flag, group, limit, milliseconds, nameOrNames, names } from './option-kinds.ts'
import { objectWith, oneOf, probability, sampleRate, text, upstream } from './option-kinds.ts'
import type { OptionKind } from './option-kinds.ts'
import type { ScorerEntry, ScoringOptions } from './scoring-options.ts'

/** What is known about one option. Checks, defaults, environment variables and the reference page derive from it. */
export interface OptionRow<Value = unknown> {
  readonly kind: OptionKind
  /** One or two sentences, as the option's TSDoc has them. */
  readonly doc: string
  readonly default?: Value
  /** The default where it depends on the process. */
  readonly defaultIn?: (environment: Readonly<Record<string, string | undefined>>) => Value
  /** What the reference says about the default, where the value does not say it. */
  readonly defaultDoc?: string
  /** The options inside, where the option is an object of them. */
  readonly rows?: Readonly<Record<string, OptionRow>>
}

/** Rows for all properties of an options object. */
export type OptionRows<Options> = { readonly [Name in keyof Options]-?: OptionRow<Options[Name]> }

/** What judges may take. */
export const budgetTable: OptionRows<BudgetLimits> = {
  callsPerMinute: {
    kind: limit,
    default: DEFAULT_BUDGET.callsPerMinute,
    doc: 'Judge calls in any minute. About half of them may come at one moment. If more are wanted, rates are reduced, and the weights of the scored runs make up for it.',
  },
  tokensPerHour: {
    kind: limit,
    default: DEFAULT_BUDGET.tokensPerHour,
    doc: 'Input and output tokens of judges in any hour.',
  },
  usdPerDay: {
    kind: limit,
    default: DEFAULT_BUDGET.usdPerDay,
    doc: 'US dollars in any 24 hours. Models without a known price do not count.',
  },
  share: {
    kind: probability,
    default: DEFAULT_BUDGET.share,
    doc: 'The share of all the limits that this process may use: 1/40 where forty processes share them.',
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
    default: 'all',
    doc: 'Whose explanations leave the process: those of all scorers, of code scorers only, or none.',
  },
}

/** A scorer, and the runs that it is for. */
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
    default: 1,
    doc: 'The share of runs that is scored, 0 or from 0.001 to 1, or a function of the finished run that gives it.',
  },
  sampleSalt: {
    kind: text,
    defaultDoc: 'none',
    doc: 'A secret that keeps callers from choosing, by the trace id, whether they are scored. Processes with the same salt decide alike.',
  },
  upstreamProbability: {
    kind: upstream,
    defaultDoc: 'none: means speak of the runs that this process saw',
    doc: "The share of traces that the tracer's own sampler keeps, or `'tracestate'` to trust what each trace says of it.",
  },
  budget: {
    kind: group,
    rows: budgetTable,
    defaultDoc: '60 calls a minute, 10 US dollars a day',
    doc: 'What judges may take, per process, over rolling windows. `Infinity` lifts a limit.',
  },
  concurrency: { kind: wholeNumber(1), default: 8, doc: 'How many judge scores are worked on at the same time.' },
  queueSize: { kind: wholeNumber(0), default: 1000, doc: 'How many scores may wait for their turn.' },
  timeoutMs: {
    kind: milliseconds,
    default: 20_000,
    doc: 'Milliseconds that all tries of one score may take together.',
  },
  next: {
    kind: objectWith('onStart', 'onEnd', 'forceFlush', 'shutdown'),
    defaultDoc: 'none',
    doc: 'The span processor that spans are handed on to. Agent spans are held in front of it until their scores are in.',
  },
  holdMs: { kind: milliseconds, default: 5000, doc: 'Milliseconds that an agent span is held at most.' },
  maxHeld: { kind: wholeNumber(0), default: 1000, doc: 'How many agent spans are held at the same time.' },
  settleMs: {
    kind: milliseconds,
    default: 2000,
    doc: 'Milliseconds that a run waits for its recognised spans that are still open.',
  },
  maxOpenRuns: {
    kind: wholeNumber(1),
    default: 10_000,
    doc: 'How many runs may be open at the same time. Above it, the oldest is given up.',
  },
  maxSpansPerRun: { kind: wholeNumber(1), default: 2000, doc: 'How many spans of one run are kept.' },
  maxContentBytes: {
    kind: limit,
    default: 64 * 1024 * 1024,
    defaultDoc: '67108864 (64 MiB)',
    doc: 'Bytes that the spans and log records of all open runs may hold, estimated. Above it, the oldest is given up.',
  },
  maxRunAgeMs: {
    kind: limit,
    default: 86_400_000,
    defaultDoc: '86400000 (a day)',
    doc: 'Milliseconds after which a run that is still open is given up.',
  },
  maxSyncBytes: {
    kind: limit,
    default: 256 * 1024,
    defaultDoc: '262144 (256 KiB)',
    doc: 'Bytes of content of one run, counting 512 for each span, above which code scorers run after `end()`.',
  },
  flushTimeoutMs: {
    kind: milliseconds,
    defaultIn: (environment) => (environment['AWS_LAMBDA_FUNCTION_NAME'] === undefined ? 10_000 : 0),
    defaultDoc: '10000; 0 on AWS Lambda',
    doc: 'Milliseconds that judges may delay `forceFlush`.',
  },
  shutdownTimeoutMs: { kind: milliseconds, default: 5000, doc: 'Milliseconds that judges may delay `shutdown`.' },
  redact: {
    kind: callback,
    defaultDoc: 'none',
    doc: 'Removes from a run what no judge may see: judges get the run that it returns. If it throws, no call is made.',
  },
  stripContent: {
    kind: flag,
    default: false,
    doc: 'Hands spans on without message and tool content. Needs `next` or `attachScoring`.',
  },
  scoreUnsampled: {
    kind: flag,
    default: false,
    doc: 'Asks judges also about spans that are recorded but not sampled.',
  },
  rescore: {
    kind: flag,
    default: false,
    doc: 'Asks judges a second time where spans arrived after a run was scored.',
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
    defaultDoc: "all signals; late spans where the score is not on the agent's span",
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
    doc: "Throws at construction where a judge's key or package is missing.",
  },
  tracerProvider: {
    kind: objectWith('getTracer'),
    defaultDoc: 'the global one, looked up at each emission',
    doc: 'The tracer provider that is attached to, and that late spans are written with.',
  },
  meterProvider: {
    kind: objectWith('getMeter'),
    defaultDoc: 'the global one, looked up at each emission',
    doc: 'The meter provider that metrics are written with.',
  },
  loggerProvider: {
    kind: objectWith('getLogger'),
    defaultDoc: 'the global one of either Logs API, looked up at each emission',
    doc: 'The logger provider that events are written with.',
  },
}

function isScorerId(value: unknown): boolean {
  return typeof value === 'string' && /^[a-z][a-z0-9_]*$/.test(value)
}
