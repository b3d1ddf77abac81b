import type { AlertSettings } from '../../emit/alert-settings.ts'
import type { EmitOptions } from '../../emit/emitter.ts'
import type { ExplanationRules } from '../../attributes/explanation-rules.ts'
import type { BudgetLimits } from '../../sampling/budget.ts'
import type { Evaluation } from '../../model/score.ts'
import type { Scorer } from '../../scoring/scorer.ts'
import { versionFor } from '../../scoring/scorer-version.ts'
import { isRecord } from '../../spans/json.ts'
import { isStripped } from '../../spans/strip-content.ts'
import { resolveAlerts } from './resolve-alerts.ts'
import { readTable, wrong } from './option-checks.ts'
import { secondsOf } from './option-kinds.ts'
import { budgetTable, emitTable, optionTable, scorerEntryTable, serviceAlertTable } from './option-table.ts'
import type { Sample, Scope, ScorerEntry, ScoringOptions, ServiceAlerts } from './scoring-options.ts'

/** A scorer and the runs that it scores, with all defaults filled in. */
export interface ResolvedScorer {
  readonly scorer: Scorer
  readonly id: string
  readonly agents?: ReadonlySet<string>
  readonly scope: Scope
  readonly when?: ScorerEntry['when']
  readonly sample: Sample
  /** The pass mark of the entry, which decides by value. */
  readonly passAt?: number
  /** The scorer as described in evaluations. */
  readonly about: Evaluation['scorer']
  /** What the gauge of alert settings shows. */
  readonly alerts: AlertSettings
  /** Whether the application set anything about alerts. */
  readonly hasAlerts: boolean
}

/** Options without a default, because leaving them out has a meaning of its own. */
type Open =
  | 'next'
  | 'sampleSalt'
  | 'upstreamProbability'
  | 'redact'
  | 'onScore'
  | 'onJudgeCall'
  | 'tracerProvider'
  | 'meterProvider'
  | 'loggerProvider'

/** The options of the table with their defaults. */
type Filled = Pick<ScoringOptions, Open> & Required<Omit<ScoringOptions, Open>>

/** Options with all defaults filled in, so that no other code has to handle a missing one. */
export interface ResolvedOptions extends Omit<Filled, 'scorers' | 'alerts' | 'budget' | 'emit' | 'scope' | 'sample'> {
  /** The scorers, each with the runs that it scores. */
  readonly scorers: readonly ResolvedScorer[]
  /** Seconds without an agent run after which Prometheus alerts; absent if it does not. */
  readonly quietS?: number | undefined
  /** The limits of judges. */
  readonly budget: BudgetLimits
  /** Which signals are written, and what explanations may contain. */
  readonly emit: EmitOptions & ExplanationRules
}

/**
 * Validates options and fills in the defaults. The constructor, `attachScoring` and the configuration file all use it.
 *
 * @param given the options as the application passed them
 * @param attaching whether the provider supplies the processors behind, instead of `next`
 * @throws TypeError `<path>: expected …, got …`
 */
export function resolveOptions(given: ScoringOptions, attaching = false): ResolvedOptions {
  refuseBareScorers(given)
  const options = filled(readTable('options', given, optionTable))
  const scorers = resolveScorers(options)
  if (options.stripContent && options.next === undefined && !attaching) {
    throw wrong(
      'options.stripContent',
      'next, or attachScoring: content can only be taken from spans that go through here',
      'stripContent without next',
    )
  }
  const content = options.stripContent ? options.metricAttributes.find((name) => isStripped(name)) : undefined
  if (content !== undefined) {
    throw wrong('options.metricAttributes', 'names without content, because of stripContent', content)
  }
  if (options.strict) requireJudges(scorers)
  const { scope: _scope, sample: _sample, alerts, ...rest } = options
  const { quiet } = readTable<ServiceAlerts>('options.alerts', alerts, serviceAlertTable)
  return {
    ...rest,
    ...(quiet !== undefined && { quietS: secondsOf(quiet) }),
    scorers,
    budget: resolveBudget(options.budget, scorers),
    emit: { ...resolveEmit(options.emit), stripContent: options.stripContent },
  }
}

/** Every row that is not in `Open` has a default. A test compares them with the table. */
function filled(options: Partial<ScoringOptions>): Filled {
  if (options.scorers === undefined) throw wrong('options.scorers', optionTable.scorers.kind.expected, undefined)
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the table has a default for each of them
  return { alerts: {}, budget: {}, emit: {}, ...options } as Filled
}

function resolveScorers({ scorers: given, ...more }: Filled): readonly ResolvedScorer[] {
  const resolved = given.map((entry, index) => resolveScorer(`options.scorers[${index}]`, entry, more))
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

function resolveScorer(path: string, given: unknown, more: Omit<Filled, 'scorers'>): ResolvedScorer {
  if (isScorer(given)) return resolveScorer(path, { scorer: given }, more)
  const { scope, sample, handOver } = more
  refuseUnfinished(path, given)
  if (isRecord(given)) refuseUnfinished(`${path}.scorer`, given['scorer'])
  const entry = readTable<ScorerEntry>(path, given, scorerEntryTable)
  const { scorer, agent, when } = entry
  if (!isScorer(scorer)) throw wrong(`${path}.scorer`, scorerEntryTable.scorer.kind.expected, scorer)
  const { id = scorer.id, passAt = scorer.passAt } = entry
  const [low, high] = scorer.range
  if (!(passAt >= low && passAt <= high)) {
    throw wrong(`${path}.passAt`, `a number from ${low} to ${high}, the scorer's range`, passAt)
  }
  const about = aboutOf(scorer, id, passAt, handOver)
  return {
    scorer,
    id,
    scope: entry.scope ?? scope,
    sample: entry.sample ?? sample,
    about,
    alerts: resolveAlerts(`${path}.alerts`, entry.alerts ?? {}, about),
    hasAlerts: entry.alerts !== undefined,
    ...(entry.passAt !== undefined && { passAt: entry.passAt }),
    ...(agent !== undefined && { agents: new Set(typeof agent === 'string' ? [agent] : agent) }),
    ...(when !== undefined && { when }),
  }
}

/** @throws TypeError if the value is a factory that was not called, or a scorer without its score step; the message says what to do */
function refuseUnfinished(path: string, given: unknown): void {
  if (typeof given === 'function') {
    const factory = given.name === '' ? 'it' : given.name
    throw wrong(path, `a scorer, which a factory returns: call ${factory}({ … }) and pass what it returns`, given)
  }
  if (isRecord(given) && typeof given['generateScore'] === 'function' && !isScorer(given)) {
    const got = 'createScorer(…) without its score step; end it with .generateScore(({ agentRun }) => …)'
    throw new TypeError(`${path}: expected a scorer, got ${got}.`)
  }
}

/** Explains that scorers were passed instead of options; the list of known options would not help. */
function refuseBareScorers(given: unknown): void {
  if (!Array.isArray(given) && !isScorer(given)) return
  const got = isScorer(given) ? `the scorer ${given.id}` : 'a list'
  throw new TypeError(`options: expected an object such as { scorers: [scorer] }, got ${got}.`)
}

function aboutOf(scorer: Scorer, id: string, passAt: number, handOver: readonly string[]): Evaluation['scorer'] {
  const { kind, range, better, level } = scorer
  return { id, version: versionFor(scorer, handOver), kind, range, better, passAt, level }
}

function resolveBudget(given: Partial<BudgetLimits>, scorers: readonly ResolvedScorer[]): BudgetLimits {
  const limits = readTable<BudgetLimits>('options.budget', given, budgetTable)
  const unpriced = scorers.find(({ scorer }) => scorer.judge?.priced === false)
  if (given.usdPerDay !== undefined && limits.usdPerDay !== Number.POSITIVE_INFINITY && unpriced) {
    throw wrong(
      'options.budget.usdPerDay',
      `a price for ${unpriced.scorer.judge?.model}, the model of ${unpriced.id}: set judge.price, or leave usdPerDay out and set tokensPerHour`,
      'a model whose price is unknown',
    )
  }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- each limit has a default
  return limits as BudgetLimits
}

function resolveEmit(given: Partial<EmitOptions>): EmitOptions {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- each switch has a default
  return readTable<EmitOptions>('options.emit', given, emitTable) as EmitOptions
}

function requireJudges(scorers: readonly ResolvedScorer[]): void {
  for (const { id, scorer } of scorers) {
    const why = scorer.judge?.unavailable()
    if (why !== undefined)
      throw new TypeError(`options.strict: expected a judge that can be asked for ${id}, got none. ${why}`)
  }
}

function isScorer(value: unknown): value is Scorer {
  return (
    isRecord(value) &&
    typeof value['assess'] === 'function' &&
    typeof value['id'] === 'string' &&
    Array.isArray(value['range'])
  )
}
