import type { EmitOptions } from '../../emit/emitter.ts'
import { DEFAULT_BUDGET } from '../../sampling/budget.ts'
import type { BudgetLimits } from '../../sampling/budget.ts'
import type { Evaluation } from '../../model/score.ts'
import type { Scorer } from '../../scoring/scorer.ts'
import { isRecord, OptionReader, wrong } from './option-checks.ts'
import type { Sample, Scope, ScorerEntry, ScoringOptions } from './scoring-options.ts'

/** A scorer, and the runs that it is for, with nothing left open. */
export interface ResolvedScorer {
  readonly scorer: Scorer
  readonly id: string
  readonly agents?: ReadonlySet<string>
  readonly scope: Scope
  readonly when?: ScorerEntry['when']
  readonly sample: Sample
  readonly passAt: number
  /** As evaluations show it. */
  readonly about: Evaluation['scorer']
}

type Given =
  | 'next'
  | 'upstreamProbability'
  | 'redact'
  | 'onScore'
  | 'onJudgeCall'
  | 'tracerProvider'
  | 'meterProvider'
  | 'loggerProvider'

/** Options with nothing left open: code below never meets a missing one. */
export interface ResolvedOptions
  extends
    Pick<ScoringOptions, Given>,
    Required<Omit<ScoringOptions, Given | 'scorers' | 'budget' | 'emit' | 'scope' | 'sample'>> {
  readonly scorers: readonly ResolvedScorer[]
  readonly budget: BudgetLimits
  readonly emit: EmitOptions
}

const OPTIONS: readonly (keyof ScoringOptions)[] = [
  'scorers',
  'scope',
  'sample',
  'upstreamProbability',
  'budget',
  'concurrency',
  'queueSize',
  'timeoutMs',
  'next',
  'holdMs',
  'maxHeld',
  'settleMs',
  'maxOpenRuns',
  'maxSpansPerRun',
  'maxContentBytes',
  'maxSyncBytes',
  'flushTimeoutMs',
  'shutdownTimeoutMs',
  'redact',
  'stripContent',
  'scoreUnsampled',
  'rescore',
  'metricAttributes',
  'emit',
  'onScore',
  'onJudgeCall',
  'strict',
  'tracerProvider',
  'meterProvider',
  'loggerProvider',
]

const ID = /^[a-z][a-z0-9_]*$/

/**
 * Checks options and fills in the defaults: the one validator of constructor, `attachScoring` and configuration file.
 *
 * @param given What the application wrote.
 * @param attaching True where the processors to stand in front of come from the provider, and not from `next`.
 * @throws TypeError `<path>: expected …, got …`
 */
export function resolveOptions(given: ScoringOptions, attaching = false): ResolvedOptions {
  const read = new OptionReader('options', given, OPTIONS)
  const scope = read.oneOf<Scope>('scope', ['root', 'every-agent'], 'root')
  const sample = checkSample('options.sample', given.sample ?? 1)
  const scorers = resolveScorers(given.scorers, scope, sample)
  const budget = resolveBudget(given.budget, scorers)
  read.methods('next', ['onStart', 'onEnd', 'forceFlush', 'shutdown'])
  read.methods('tracerProvider', ['getTracer'])
  read.methods('meterProvider', ['getMeter'])
  read.methods('loggerProvider', ['getLogger'])
  for (const key of ['redact', 'onScore', 'onJudgeCall']) read.function(key)
  const upstreamProbability = read.probability('upstreamProbability')
  const stripContent = read.flag('stripContent', false)
  if (stripContent && given.next === undefined && !attaching) {
    throw wrong(
      'options.stripContent',
      'next, or attachScoring: content can only be taken from spans that go through here',
      'stripContent without next',
    )
  }
  const strict = read.flag('strict', false)
  if (strict) requireJudges(scorers)
  const onLambda = process.env['AWS_LAMBDA_FUNCTION_NAME'] !== undefined
  return {
    scorers,
    budget,
    emit: resolveEmit(given.emit, stripContent),
    concurrency: read.count('concurrency', 8, 1),
    queueSize: read.count('queueSize', 1000, 0),
    timeoutMs: read.milliseconds('timeoutMs', 20_000),
    holdMs: read.milliseconds('holdMs', 5000),
    maxHeld: read.count('maxHeld', 1000, 0),
    settleMs: read.milliseconds('settleMs', 2000),
    maxOpenRuns: read.count('maxOpenRuns', 10_000, 1),
    maxSpansPerRun: read.count('maxSpansPerRun', 2000, 1),
    maxContentBytes: read.limit('maxContentBytes', 64 * 1024 * 1024),
    maxSyncBytes: read.limit('maxSyncBytes', 256 * 1024),
    flushTimeoutMs: read.milliseconds('flushTimeoutMs', onLambda ? 0 : 10_000),
    shutdownTimeoutMs: read.milliseconds('shutdownTimeoutMs', 5000),
    stripContent,
    scoreUnsampled: read.flag('scoreUnsampled', false),
    rescore: read.flag('rescore', false),
    metricAttributes: checkNames('options.metricAttributes', given.metricAttributes ?? [], 'a list of names'),
    strict,
    ...(upstreamProbability !== undefined && { upstreamProbability }),
    ...pickDefined(given, [
      'next',
      'redact',
      'onScore',
      'onJudgeCall',
      'tracerProvider',
      'meterProvider',
      'loggerProvider',
    ]),
  }
}

function resolveScorers(given: unknown, scope: Scope, sample: Sample): readonly ResolvedScorer[] {
  if (!Array.isArray(given) || given.length === 0) {
    throw wrong('options.scorers', 'a list of at least one scorer, or { scorer, … }', given)
  }
  const resolved = given.map((entry: unknown, index) =>
    resolveScorer(`options.scorers[${index}]`, entry, scope, sample),
  )
  const seen = new Map<string, number>()
  for (const [index, { id }] of resolved.entries()) {
    const first = seen.get(id)
    if (first !== undefined) {
      throw wrong(
        `options.scorers[${index}]`,
        `an id that differs from options.scorers[${first}]; give one of them another: { scorer, id: '${id}_2' }`,
        id,
      )
    }
    seen.set(id, index)
  }
  return resolved
}

function resolveScorer(path: string, given: unknown, scope: Scope, sample: Sample): ResolvedScorer {
  if (isScorer(given)) return resolveScorer(path, { scorer: given }, scope, sample)
  const read = new OptionReader(path, given, ['scorer', 'id', 'agent', 'scope', 'when', 'sample', 'passAt'])
  const scorer = read.get('scorer')
  if (!isScorer(scorer)) throw read.wrong('scorer', 'a scorer, as createScorer or a prebuilt factory makes it')
  const id = read.get('id') ?? scorer.id
  if (typeof id !== 'string' || !ID.test(id)) throw read.wrong('id', 'a match of ^[a-z][a-z0-9_]*$')
  const [low, high] = scorer.range
  const passAt = read.get('passAt') ?? scorer.passAt
  if (typeof passAt !== 'number' || !(passAt >= low && passAt <= high)) {
    throw read.wrong('passAt', `a number from ${low} to ${high}, the scorer's range`)
  }
  read.function('when')
  const agent = read.get('agent')
  const entry = toEntry(given)
  return {
    scorer,
    id,
    scope: read.oneOf('scope', ['root', 'every-agent'], scope),
    sample: entry.sample === undefined ? sample : checkSample(`${path}.sample`, entry.sample),
    passAt,
    about: aboutOf(scorer, id, passAt),
    ...(agent !== undefined && {
      agents: new Set(checkAgents(`${path}.agent`, agent)),
    }),
    ...(entry.when !== undefined && { when: entry.when }),
  }
}

function aboutOf({ version, kind, range, better }: Scorer, id: string, passAt: number): Evaluation['scorer'] {
  return { id, version, kind, range, better, passAt }
}

function resolveBudget(given: unknown, scorers: readonly ResolvedScorer[]): BudgetLimits {
  const read = new OptionReader('options.budget', given ?? {}, [
    'callsPerMinute',
    'tokensPerHour',
    'usdPerDay',
    'share',
  ])
  const usdPerDay = read.limit('usdPerDay', DEFAULT_BUDGET.usdPerDay)
  const unpriced = scorers.find(({ scorer }) => scorer.judge?.priced === false)
  if (read.get('usdPerDay') !== undefined && usdPerDay !== Number.POSITIVE_INFINITY && unpriced) {
    throw wrong(
      'options.budget.usdPerDay',
      `a price for ${unpriced.scorer.judge?.model}, the model of ${unpriced.id}; leave usdPerDay out and set tokensPerHour`,
      'a model whose price is not known',
    )
  }
  return {
    callsPerMinute: read.limit('callsPerMinute', DEFAULT_BUDGET.callsPerMinute),
    tokensPerHour: read.limit('tokensPerHour', DEFAULT_BUDGET.tokensPerHour),
    usdPerDay,
    share: read.probability('share') ?? DEFAULT_BUDGET.share,
  }
}

function resolveEmit(given: unknown, stripContent: boolean): EmitOptions {
  const read = new OptionReader('options.emit', given ?? {}, [
    'attributes',
    'events',
    'lateSpans',
    'metrics',
    'explanations',
  ])
  const explanations = read.oneOf('explanations', ['all', 'code', 'none'], 'all')
  return {
    attributes: read.flag('attributes', true),
    events: read.flag('events', true),
    lateSpans: read.oneOf('lateSpans', ['late', 'always', 'never'], 'late'),
    metrics: read.flag('metrics', true),
    // A judge's explanation quotes what it has read.
    explanations: stripContent && explanations === 'all' ? 'code' : explanations,
  }
}

function requireJudges(scorers: readonly ResolvedScorer[]): void {
  for (const { id, scorer } of scorers) {
    const why = scorer.judge?.unavailable()
    if (why !== undefined)
      throw new TypeError(`options.strict: expected a judge that can be asked for ${id}, got none. ${why}`)
  }
}

function checkSample(path: string, sample: unknown): Sample {
  if (typeof sample === 'number' && sample >= 0 && sample <= 1) return sample
  if (isSampleFunction(sample)) return sample
  throw wrong(path, 'a number from 0 to 1, or a function of the run that gives one', sample)
}

function checkAgents(path: string, agents: unknown): readonly string[] {
  const expected = 'a name, or a list of at least one name'
  const names = checkNames(path, typeof agents === 'string' && agents !== '' ? [agents] : agents, expected)
  if (names.length > 0) return names
  throw wrong(path, expected, agents)
}

function checkNames(path: string, names: unknown, expected: string): readonly string[] {
  if (Array.isArray(names) && names.every((name) => typeof name === 'string' && name !== '')) return names
  throw wrong(path, expected, names)
}

function pickDefined<Key extends keyof ScoringOptions>(
  given: ScoringOptions,
  keys: readonly Key[],
): Pick<ScoringOptions, Key> {
  const picked: Partial<ScoringOptions> = {}
  for (const key of keys) if (given[key] !== undefined) picked[key] = given[key]
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- exactly the keys that were asked for
  return picked as Pick<ScoringOptions, Key>
}

function isScorer(value: unknown): value is Scorer {
  return (
    isRecord(value) &&
    typeof value['assess'] === 'function' &&
    typeof value['id'] === 'string' &&
    Array.isArray(value['range'])
  )
}

function isSampleFunction(value: unknown): value is Exclude<Sample, number> {
  return typeof value === 'function'
}

function toEntry(value: unknown): Partial<ScorerEntry> {
  return isRecord(value) ? value : {}
}
