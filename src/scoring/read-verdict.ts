import type { Usage } from '../model/message.ts'
import type { FailureCode, JudgeReport, SkipReason } from '../model/score.ts'
import { isRecord } from '../spans/json.ts'
import { boundedNumber, countUpTo, tokenCount } from '../spans/outside-number.ts'
import { formatValue } from './format-value.ts'

// The types of what scorers return exist at compile time only. These functions check it at run time, so that only texts, known
// reasons and plausible numbers reach budgets, attributes and metrics.

/** The reasons for which a score is skipped, at run time. */
export const skipReasons: Readonly<Record<SkipReason, true>> = {
  filtered: true,
  'not-applicable': true,
  'no-content': true,
  'no-output': true,
  'run-failed': true,
  'no-such-tool': true,
  'not-finished': true,
  incomplete: true,
  'sampled-out': true,
  thinned: true,
  refused: true,
  'circuit-open': true,
  'judge-unavailable': true,
  unsampled: true,
  'already-scored': true,
  'queue-full': true,
  expired: true,
  shutdown: true,
}

/** The codes with which a score fails, at run time. */
const failureCodes: Readonly<Record<FailureCode, true>> = {
  'scorer-threw': true,
  'scorer-timeout': true,
  'invalid-score': true,
  'redact-failed': true,
  'judge-timeout': true,
  'judge-http': true,
  'judge-auth': true,
  'judge-quota': true,
  'judge-refused': true,
  'judge-invalid-reply': true,
  'judge-unanswered': true,
}

/** Whether the value is one of the reasons for which a score is skipped. */
export function isSkipReason(value: unknown): value is SkipReason {
  return typeof value === 'string' && Object.hasOwn(skipReasons, value)
}

/** Whether the value is one of the codes with which a score fails. */
export function isFailureCode(value: unknown): value is FailureCode {
  return typeof value === 'string' && Object.hasOwn(failureCodes, value)
}

/** The longest text of a verdict that is kept, in UTF-16 code units. */
const LONGEST_TEXT = 10_000

/** A text of a verdict. Any other value is formatted as in messages; `undefined` stays `undefined`. */
export function readText(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined
  const text = typeof value === 'string' ? value : formatValue(value)
  return text.length <= LONGEST_TEXT ? text : `${text.slice(0, LONGEST_TEXT - 1).toWellFormed()}…`
}

/** The longest name of a model, in UTF-16 code units. Servers and scorers choose it, and it is an attribute of spans, events and metrics. */
const LONGEST_NAME = 256

/** Upper bounds of plausible values: no score takes more judge calls or costs more US dollars. */
const MOST_CALLS = 10_000
const MOST_USD = 10_000

/**
 * Reads the report of a judge's calls; `undefined` if it is not an object. Numbers that are not plausible are left out, and a
 * report without the number of calls counts as one call.
 *
 * @param model the name of the model if the report has none
 */
export function readJudgeReport(report: unknown, model: string | undefined): JudgeReport | undefined {
  if (!isRecord(report)) return undefined
  const calls = countUpTo(report.calls, MOST_CALLS) ?? 1
  const { costUsd } = report
  const isCost = typeof costUsd === 'number' && costUsd >= 0 && costUsd <= MOST_USD
  return {
    model: typeof report.model === 'string' ? report.model.slice(0, LONGEST_NAME).toWellFormed() : (model ?? 'unknown'),
    calls,
    usage: toUsage(isRecord(report.usage) ? report.usage : {}, Math.max(1, calls)),
    ...(isCost && { costUsd }),
    ...(report.isEffortIgnored === true && { isEffortIgnored: true }),
  }
}

const USAGE_KEYS: readonly (keyof Usage)[] = [
  'inputTokens',
  'outputTokens',
  'cacheReadTokens',
  'cacheWriteTokens',
  'reasoningTokens',
]

/** Reads the token counts of a provider or a scorer. Implausibly high counts are left out. */
export function toUsage(counts: Readonly<Partial<Record<keyof Usage, unknown>>>, calls = 1): Usage {
  return Object.fromEntries(
    USAGE_KEYS.flatMap((key) => {
      const count = tokenCount(counts[key], calls)
      return count === undefined ? [] : [[key, count]]
    }),
  )
}

/** Reads a judge's estimate of one score's cost. Anything that is not a number is replaced: one call, no tokens. */
export function readEstimate(estimate: unknown): {
  readonly calls: number
  readonly tokens: number
  readonly costUsd?: number
} {
  const { calls, tokens, costUsd } = isRecord(estimate) ? estimate : {}
  const cost = boundedNumber(costUsd, 0, MOST_USD)
  return {
    calls: boundedNumber(calls, 0, MOST_CALLS) ?? 1,
    tokens: boundedNumber(tokens, 0, Number.MAX_SAFE_INTEGER) ?? 0,
    ...(cost !== undefined && { costUsd: cost }),
  }
}
