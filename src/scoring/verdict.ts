import { contentFree, explain, isExplanation } from '../model/explanation.ts'
import type { Failed, JudgeReport, Score, Scored, Skipped } from '../model/score.ts'
import { describeError, formatValue } from './format-value.ts'
import { isFailureCode, isSkipReason, readJudgeReport, readText } from './read-verdict.ts'
import type { Scorer, Verdict } from './scorer.ts'
import { failed } from './unscored.ts'

/**
 * What a scorer's verdict comes to. The verdict may be anything, because a scorer's code gave it: without a valid score or a
 * known reason it is `failed: invalid-score`, and where reading it throws, `failed: scorer-threw`. Never throws.
 */
export function toScore(scorer: Scorer, passAt: number, verdict: Verdict): Score {
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

/** What a verdict says of its judge; `undefined` where it says nothing that can be read. Never throws. */
export function toJudgeReport(scorer: Scorer, verdict: Verdict): JudgeReport | undefined {
  try {
    return readJudgeReport(verdict?.judge, scorer.judge?.model)
  } catch {
    return undefined
  }
}

/** The score of a scorer that gave something else than a number within its range. */
export function invalidScore(id: string, [low, high]: readonly [number, number], got: unknown): Failed {
  return failed(
    'invalid-score',
    explain`${contentFree(id)}: expected a number from ${low} to ${high}, got ${typeof got === 'number' ? got : formatValue(got)}. Return such a number, or set the scorer's range.`,
  )
}

/** Whether a value is one of the two forms of no score. */
export function isUnscored(value: unknown): value is Skipped | Failed {
  return (
    typeof value === 'object' &&
    value !== null &&
    'status' in value &&
    (value.status === 'skipped' || value.status === 'failed')
  )
}

function toScored(scorer: Scorer, passAt: number, verdict: Verdict & { readonly status: 'scored' }): Score {
  const value = withinRange(verdict.value, scorer.range)
  if (value === undefined) return invalidScore(scorer.id, scorer.range, verdict.value)
  const passed = scorer.better === 'higher' ? value >= passAt : value <= passAt
  const scored: Mutable<Scored> = { status: 'scored', value, label: passed ? 'pass' : 'fail' }
  const { explanation } = verdict
  // What a judge found, item by item, is what shows why it scores so.
  const details = verdict.details ?? (scorer.kind === 'judge' ? verdict.analyzeStepResult : undefined)
  const band = readText(verdict.band)
  if (band !== undefined) scored.band = band
  const text = readText(isExplanation(explanation) ? explanation.text : explanation)
  if (text !== undefined) scored.explanation = text
  const without = isExplanation(explanation) ? readText(explanation.withoutContent) : undefined
  if (without !== undefined) scored.explanationWithoutContent = without
  if (details !== undefined) scored.details = details
  return scored
}

/**
 * The value where it lies in the range, else `undefined`. What sums of fractions leave over (1.0000000000000002) is the bound
 * itself; -0 is 0.
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

/** The score of a scorer that gives an unknown reason for having none. */
function unknownReason(id: string, type: string, got: unknown): Failed {
  return failed(
    'invalid-score',
    explain`${contentFree(id)}: expected a ${contentFree(type)} such as 'not-applicable' or 'scorer-threw', got ${formatValue(got)}.`,
  )
}

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] }
