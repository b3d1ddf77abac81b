import { contentFree, explain } from '../../model/explanation.ts'
import type { AgentRun } from '../../model/agent-run.ts'
import { defineScorer } from '../../scoring/define-scorer.ts'
import type { Scorer } from '../../scoring/scorer.ts'
import { list } from './code-scorer.ts'
import { expectAmounts, expectOption, readOptions } from '../read-options.ts'
import type { KeysOf } from '../read-options.ts'
import { expectLevel, scorerKeys } from '../scorer-options.ts'
import type { LevelOption, ScorerOptions } from '../scorer-options.ts'
import { skipWithoutFact } from '../../scoring/absence.ts'
import { skip } from '../skip.ts'

/** Options of `createRunLimitsScorer`: at least one limit. */
export interface RunLimitsOptions extends ScorerOptions, LevelOption {
  /** Maximum number of turns; with `level: 'conversation'` only. */
  readonly maxTurns?: number
  /** Maximum number of model calls. */
  readonly maxSteps?: number
  /** Maximum number of tool calls of the run, without nested runs. */
  readonly maxToolCalls?: number
  /** Maximum input tokens of all model calls of the run, including cached ones. */
  readonly maxInputTokens?: number
  /** Maximum output tokens of all model calls of the run, including reasoning. */
  readonly maxOutputTokens?: number
  /** Maximum milliseconds from the start to the end of the run. */
  readonly maxDurationMs?: number
}

type Limit = Exclude<keyof RunLimitsOptions, keyof ScorerOptions | keyof LevelOption>

/** One limit, and the run's value. */
export interface LimitCheck {
  /** The option that sets the limit. */
  readonly limit: Limit
  /** In the option's unit. */
  readonly allowed: number
  /** Absent if the spans lack it. */
  readonly actual?: number
}

const LIMITS: readonly Limit[] = [
  'maxSteps',
  'maxToolCalls',
  'maxInputTokens',
  'maxOutputTokens',
  'maxDurationMs',
  'maxTurns',
]

const KNOWN: KeysOf<RunLimitsOptions> = {
  ...scorerKeys,
  level: true,
  maxTurns: true,
  maxSteps: true,
  maxToolCalls: true,
  maxInputTokens: true,
  maxOutputTokens: true,
  maxDurationMs: true,
}

const ACTUAL: Readonly<Record<Limit, (run: AgentRun) => number | undefined>> = {
  maxTurns: ({ conversation }) => conversation?.turns.length,
  maxSteps: (run) => (run.steps.length > 0 ? run.steps.length : undefined),
  maxToolCalls: (run) => (skipWithoutFact(run, 'toolCalls', '') === undefined ? run.toolCalls.length : undefined),
  maxInputTokens: (run) => run.usage.inputTokens,
  maxOutputTokens: (run) => run.usage.outputTokens,
  // A run made from messages has no times.
  maxDurationMs: (run) => (run.endTimeMs > 0 ? run.endTimeMs - run.startTimeMs : undefined),
}

/**
 * Run limits, by code: the share of the given limits that the run kept. Passes at 1, which means all of them.
 *
 * Limits whose value is missing from the spans do not count, and are named; if none is left, the score is `skipped: no-content`.
 *
 * @example
 * ```ts
 * const scorer = createRunLimitsScorer({ maxSteps: 8, maxToolCalls: 12, maxDurationMs: 30_000 })
 * ```
 *
 * @throws TypeError if there is no limit, one is not a non-negative number, or an option is unknown
 */
export function createRunLimitsScorer(options: RunLimitsOptions): Scorer {
  const factory = 'createRunLimitsScorer'
  const { id = 'run_limits', level = 'run', passAt, ...given } = readOptions(factory, options, KNOWN)
  expectLevel(factory, level)
  const isOfRun = level === 'run' && given.maxTurns !== undefined
  expectOption(!isOfRun, factory, "maxTurns to have level: 'conversation' beside it", given.maxTurns)
  const limits = LIMITS.flatMap((limit) => (given[limit] === undefined ? [] : [{ limit, allowed: given[limit] }]))
  expectOption(limits.length > 0, factory, `at least one of ${LIMITS.join(', ')}`, options)
  expectAmounts(factory, given)
  return defineScorer({
    id,
    description: 'Share of the limits on steps, calls, tokens and time that the run kept.',
    kind: 'code',
    level,
    passAt,
    identity: { scorer: 'run_limits', limits },
    inline: true,
    needs: ['steps', 'toolNames'],
    assess: (_run, _context, { run }) => {
      const checks = limits.map(({ limit, allowed }): LimitCheck => {
        const actual = ACTUAL[limit](run)
        return { limit, allowed, ...(actual !== undefined && { actual }) }
      })
      const known = checks.filter(({ actual }) => actual !== undefined)
      const unknown = checks.filter(({ actual }) => actual === undefined).map(({ limit }) => limit)
      if (known.length === 0) {
        return skip(
          'no-content',
          explain`${contentFree(id)}: the spans hold no values for ${list(unknown.map(contentFree))}.`,
        )
      }
      const broken = known.filter(({ actual = 0, allowed }) => actual > allowed)
      const words = broken.map(
        ({ limit, allowed, actual = 0 }) => explain`${contentFree(limit)} ${allowed}, took ${Math.round(actual)}`,
      )
      const rest = unknown.length === 0 ? explain`` : explain` Not recorded: ${list(unknown.map(contentFree))}.`
      const kept =
        words.length === 0 ? explain`All limits kept (${known.length}).` : explain`Over the limit: ${list(words)}.`
      return {
        status: 'scored',
        value: (known.length - broken.length) / known.length,
        explanation: explain`${kept}${rest}`,
        findings: known.map(({ limit, allowed, actual = 0 }) => ({
          about: 'limit',
          verdict: actual > allowed ? 'exceeded' : 'kept',
          rating: actual > allowed ? 'bad' : 'good',
          text: `${limit} ${allowed}`,
          reason: `took ${Math.round(actual)}`,
        })),
        details: { checks },
      }
    },
  })
}
