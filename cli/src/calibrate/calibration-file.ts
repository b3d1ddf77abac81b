import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Calibration } from '../calibration/calibration.ts'
import { calibrationFileSchema, judgeKey } from '../calibration/calibration.ts'
import { calibrationRules } from '../calibration/rules.ts'
import { tryParse } from '../../../src/otlp/pending-document.ts'
import { safeLine } from '../text.ts'
import { UsageError } from '../usage-error.ts'

/** The name of the file that `spanscore calibrate` writes and `spanscore canary` reads. */
export const CALIBRATION_FILE = 'spanscore.calibration.json'

/**
 * The calibrations in a file; none if it does not exist.
 *
 * @throws UsageError if it cannot be read, or is not a calibration file.
 */
export function readCalibrations(file: string): readonly Calibration[] {
  if (!existsSync(file)) return []
  const { data, error } = calibrationFileSchema.safeParse(tryParse(readFileSync(file, 'utf8')))
  if (data !== undefined) return data.calibrations
  const [issue] = error.issues
  const what = `${issue?.path.join('.') || 'the file'}: ${issue?.message}`
  throw new UsageError(
    `${safeLine(file)}: expected what spanscore calibrate writes, got something else (${safeLine(what)})`,
  )
}

/**
 * Merges new calibrations into those of a file. A new one replaces that of the same scorer, version and judge model, but keeps its canary
 * reference, which identifies its own runs.
 */
export function withCalibrations(before: readonly Calibration[], found: readonly Calibration[]): Calibration[] {
  const byJudge = new Map(before.map((each) => [judgeKey(each), each]))
  for (const each of found) {
    const reference = each.reference ?? byJudge.get(judgeKey(each))?.reference
    byJudge.set(judgeKey(each), reference === undefined ? each : { ...each, reference })
  }
  return [...byJudge.values()].toSorted((a, b) => (judgeKey(a) < judgeKey(b) ? -1 : 1))
}

/** Writes the calibrations and the rules derived from them. */
export function writeCalibrations(
  { file, rules }: { readonly file: string; readonly rules: string },
  calibrations: readonly Calibration[],
): void {
  writeText(file, `${JSON.stringify({ calibrations }, undefined, 2)}\n`)
  writeText(rules, calibrationRules(calibrations))
}

/** @throws UsageError if the file cannot be written. */
export function writeText(file: string, text: string, mode?: number): void {
  try {
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text, mode === undefined ? {} : { mode })
  } catch (error) {
    throw new UsageError(`cannot write ${safeLine(file)}: ${error instanceof Error ? error.message : String(error)}`)
  }
}
