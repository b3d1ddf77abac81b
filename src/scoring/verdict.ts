import { contentFree, explain, isExplanation } from '../model/explanation.ts'
import { readFindings } from '../model/finding.ts'
import type { Failed, JudgeReport, Score, Scored, Skipped } from '../model/score.ts'
import { describeError, formatValue } from './format-value.ts'
import { isFailureCode, isSkipReason, readJudgeReport, readText } from './read-verdict.ts'
import type { Scorer, Verdict } from './scorer.ts'
import { failed } from './unscored.ts'

/**
 * Turns a scorer's verdict into a score. A configured pass mark decides by value; without one, the label of the verdict counts. The verdict may be anything, because foreign code returned it. Without a valid score or a
 * known reason the result is `failed: invalid-score`; if reading the verdict throws, it is `failed: scorer-threw`. Never throws.
 */
export function toScore(scorer: Scorer, passAt: number | undefined, verdict: Verdict): Score {
  try {
    switch (verdict?.status) {
      case 'scored':
        return toScored(scorer, passAt, verdict)
      case 'skipped': {
        const { reason, message, messageWithoutContent } = verdict
        if (!isSkipReason(reason)) return unknownReason(scorer.id, 'SkipReason', reason)
        return { status: 'skipped', reason, ...toMessage(message, messageWithoutContent) }
      }
      case 'failed': {
        const { code, message, messageWithoutContent } = verdict
        if (!isFailureCode(code)) return unknownReason(scorer.id, 'FailureCode', code)
        return { status: 'failed', code, ...toMessage(message, messageWithoutContent) }
      }
      default:
        return invalidScore(scorer.id, scorer.range, verdict)
    }
  } catch (error) {
    return verdictOfThrown(scorer.id, error)
  }
}

/** The score of a scorer that threw, or whose verdict cannot be read without throwing. */
export function verdictOfThrown(id: string, error: unknown): Failed {
  return failed('scorer-threw', {
    text: `${id} threw ${formatValue(error, 500)}. Its .run() rejects with this error as the cause, which shows where.`,
    withoutContent: `${id} threw ${describeError(error)}. Its .run() rejects with this error as the cause, which shows more.`,
  })
}

/** Reads the report of the judge in a verdict; `undefined` if there is none that can be read. Never throws. */
export function toJudgeReport(scorer: Scorer, verdict: Verdict): JudgeReport | undefined {
  try {
    return readJudgeReport(verdict?.judge, scorer.judge?.model)
  } catch {
    return undefined
  }
}

/** The score of a scorer that returned anything but a number within its range. */
export function invalidScore(id: string, [low, high]: readonly [number, number], got: unknown): Failed {
  const value = typeof got === 'number' ? got : formatValue(got)
  return failed(
    'invalid-score',
    explain`${contentFree(id)}: expected a number from ${low} to ${high}, got ${got === undefined ? contentFree('undefined') : value}. Return such a number, or set the scorer's range.`,
  )
}

/** Whether a value is a skipped or a failed score. */
export function isUnscored(value: unknown): value is Skipped | Failed {
  return (
    typeof value === 'object' &&
    value !== null &&
    'status' in value &&
    (value.status === 'skipped' || value.status === 'failed')
  )
}

const FAILS_ANYWAY = ' It fails for what was found, whatever its score.'

function toScored(scorer: Scorer, passAt: number | undefined, verdict: Verdict & { readonly status: 'scored' }): Score {
  const value = withinRange(verdict.value, scorer.range)
  if (value === undefined) return invalidScore(scorer.id, scorer.range, verdict.value)
  const mark = passAt ?? scorer.passAt
  const byValue = (scorer.better === 'higher' ? value >= mark : value <= mark) ? 'pass' : 'fail'
  const { explanation, label } = verdict
  const isOwn = passAt === undefined && (label === 'pass' || label === 'fail')
  const scored: Mutable<Scored> = { status: 'scored', value, label: isOwn ? label : byValue }
  const details = verdict.details ?? (scorer.kind === 'judge' ? verdict.analyzeStepResult : undefined)
  const band = readText(verdict.band)
  if (band !== undefined) scored.band = band
  const text = readText(isExplanation(explanation) ? explanation.text : explanation)
  const why = scored.label === 'fail' && byValue === 'pass' ? FAILS_ANYWAY : ''
  if (text !== undefined) scored.explanation = text + why
  const without = isExplanation(explanation) ? readText(explanation.withoutContent) : undefined
  if (without !== undefined) scored.explanationWithoutContent = without + why
  const findings = readFindings(verdict.findings)
  if (findings.length > 0) scored.findings = findings
  if (verdict.found !== undefined && Number.isSafeInteger(verdict.found)) scored.found = verdict.found
  if (details !== undefined) scored.details = details
  return scored
}

/**
 * Returns the value if it lies within the range, else `undefined`. A value that misses a bound by a rounding error
 * (1.0000000000000002) becomes that bound, and -0 becomes 0.
 */
function withinRange(value: unknown, [low, high]: readonly [number, number]): number | undefined {
  if (typeof value !== 'number') return undefined
  const tolerance = (high - low) * 1e-9
  return value >= low - tolerance && value <= high + tolerance ? Math.min(high, Math.max(low, value)) + 0 : undefined
}

function toMessage(message: unknown, without: unknown): Pick<Skipped, 'message' | 'messageWithoutContent'> {
  const messageWithoutContent = typeof without === 'string' ? readText(without) : undefined
  return { message: readText(message) ?? '', ...(messageWithoutContent !== undefined && { messageWithoutContent }) }
}

/** The score of a scorer that skipped or failed with an unknown reason. */
function unknownReason(id: string, type: string, got: unknown): Failed {
  return failed(
    'invalid-score',
    explain`${contentFree(id)}: expected a ${contentFree(type)} such as 'not-applicable' or 'scorer-threw', got ${formatValue(got)}.`,
  )
}

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] }
