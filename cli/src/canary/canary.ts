import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'

import { judgeKey, judgeName } from '../calibration/calibration.ts'
import type { Calibration } from '../calibration/calibration.ts'
import { keepProcessAlive } from '../../../src/scoring/keep-process-alive.ts'
import { readCalibrations, writeCalibrations, writeText } from '../calibrate/calibration-file.ts'
import type { CommandContext, ExitCode } from '../command.ts'
import { createPaint, write } from '../output.ts'
import type { Paint } from '../output.ts'
import { JudgeUse } from '../score/judge-use.ts'
import { loadConfig } from '../score/load-config.ts'
import { safeJson, safeLine } from '../text.ts'
import { UsageError } from '../usage-error.ts'
import { metricsTarget, sendMetrics, toMetricsRequest } from './canary-metrics.ts'
import { readCanaryRuns } from './canary-runs.ts'
import { verdictOf, withReference } from './canary-verdict.ts'
import type { CanaryVerdict } from './canary-verdict.ts'
import { judgeAgain } from './judge-again.ts'
import type { CanaryPass } from './judge-again.ts'

/** The command-line options of `spanscore canary`. */
export interface CanaryOptions {
  /** The configuration file. */
  readonly config?: string
  /** The file that `spanscore calibrate` wrote. */
  readonly calibration: string
  /** Whether to add this pass to the reference. */
  readonly reference?: boolean
  /** `SCORER=SHARE`: agreement with people must not be below the share. */
  readonly failUnder?: readonly string[]
  /** Whether to print the result as JSON. */
  readonly json?: boolean
  /** The file for the metrics as an OTLP request. */
  readonly out?: string
}

/** A limit on the agreement of one scorer, 0 to 1. */
interface Gate {
  readonly scorer: string
  readonly bound: number
}

/** Scores labelled runs again, sends the agreement with people as metrics, and reports whether a judge has drifted. */
export async function canary(
  files: readonly string[],
  given: CanaryOptions,
  context: CommandContext,
): Promise<ExitCode> {
  const options = loadConfig(given.config, context)
  const runs = await readCanaryRuns(files)
  const scorers = new Set(runs.map(({ scorer }) => scorer))
  const gates = (given.failUnder ?? []).map((text) => toGate(text, scorers))
  const calibrations = readCalibrations(given.calibration)
  return keepProcessAlive(async () => {
    const found = await judgeAgain(runs, options)
    const known = given.reference === true ? keepReference(found, calibrations, given.calibration) : calibrations
    const verdicts = found.passes.map((pass) => verdictOf(pass, known))
    const missing = existsSync(given.calibration)
      ? []
      : [
          `--calibration: expected the file that spanscore calibrate wrote, got ${given.calibration}, which does not exist`,
        ]
    const failures = [...missing, ...failuresOf(verdicts, found), ...gatesOf(gates, verdicts)]
    if (given.json === true) {
      const judges = verdicts.map(({ judge, ...verdict }) => ({ ...judge, ...verdict }))
      const report = { judges, unjudged: found.unjudged, failures }
      await write(context.stdout, `${safeJson(JSON.stringify(report, undefined, 2))}\n`)
      for (const failure of failures) context.stderr.write(`spanscore: ${safeLine(failure)}\n`)
    } else {
      await write(context.stdout, render(verdicts, failures, found, createPaint(context.stdout, context.environment)))
    }
    await deliver(found, given.out, context)
    return failures.length === 0 ? 0 : 1
  })
}

/** Adds the pass to the reference for later passes. */
function keepReference(found: CanaryPass, calibrations: readonly Calibration[], file: string): readonly Calibration[] {
  if (found.unjudged.length > 0) {
    const reasons = found.unjudged.map(({ scorer, reason, count }) => `${scorer}: ${count} ${reason}`).join(', ')
    throw new UsageError(`--reference: expected a verdict on every labelled run, got none on some (${reasons})`)
  }
  const missing = found.passes.filter(({ judge }) => !calibrations.some((each) => judgeKey(each) === judgeKey(judge)))
  if (missing.length > 0) {
    const names = missing.map(({ judge }) => judgeName(judge)).join(', ')
    throw new UsageError(
      `--reference: expected ${safeLine(file)} to hold a calibration of ${safeLine(names)}, got none; ` +
        'run spanscore calibrate with labels of runs that it judged',
    )
  }
  const at = new Date().toISOString()
  let known = [...calibrations]
  for (const pass of found.passes) known = withReference(known, pass, at)
  writeCalibrations({ file, rules: join(dirname(file), 'rules', 'calibration.yml') }, known)
  return known
}

function failuresOf(verdicts: readonly CanaryVerdict[], { unjudged }: CanaryPass): string[] {
  return [
    ...verdicts.flatMap(({ status, judge, evidence = 0, why = '' }) => {
      if (status === 'uncalibrated') return [`${judgeName(judge)} is uncalibrated: ${why}`]
      if (status !== 'drifted') return []
      return [
        `${judgeName(judge)} agrees with people less than before (${evidence.toFixed(1)} nats of evidence). Calibrate it again`,
      ]
    }),
    ...unjudged.map(({ scorer, reason, count }) => `${scorer}: no verdict on ${count} labelled runs (${reason})`),
  ]
}

function toGate(text: string, scorers: ReadonlySet<string>): Gate {
  const [, scorer = '', number = ''] = /^([^=]+)=(.+)$/.exec(text) ?? []
  const bound = Number(number)
  if (number.trim() === '' || !(bound >= 0 && bound <= 1)) {
    throw new UsageError(`--fail-under: expected a scorer and a share of 0 to 1, such as faithfulness=0.8, got ${text}`)
  }
  if (scorers.has(scorer)) return { scorer, bound }
  throw new UsageError(`--fail-under: expected a labelled scorer (${[...scorers].join(', ')}), got ${scorer}`)
}

function gatesOf(gates: readonly Gate[], verdicts: readonly CanaryVerdict[]): string[] {
  return gates.flatMap(({ scorer, bound }) => {
    const own = verdicts.filter(({ judge }) => judge.scorer === scorer)
    if (own.length === 0) return [`${scorer}: nothing was judged`]
    return own.flatMap(({ judge, pass, fail }) => {
      const agreement = (pass.agreed + fail.agreed) / (pass.runs + fail.runs)
      if (agreement >= bound) return []
      return [`${judgeName(judge)} agrees with people on ${agreement.toFixed(3)} of the runs, which is below ${bound}`]
    })
  })
}

const SIGNS = {
  steady: ['green', '✓'],
  drifting: ['yellow', '!'],
  drifted: ['red', '✗'],
  uncalibrated: ['red', '✗'],
} as const

function render(
  verdicts: readonly CanaryVerdict[],
  failures: readonly string[],
  { evaluations }: CanaryPass,
  paint: Paint,
): string {
  const lines = verdicts.flatMap(({ judge, status, pass, fail, evidence, level }) => {
    const [colour, sign] = SIGNS[status]
    const of = (name: string, { runs, agreed }: typeof pass, reached: number | undefined): string => {
      const usual = reached === undefined ? '' : `, at least ${reached.toFixed(2)} before`
      const share = runs === 0 ? '' : ` (${(agreed / runs).toFixed(2)}${usual})`
      return `    people ${name}: agrees on ${agreed} of ${runs}${share}`
    }
    const nats = evidence === undefined ? '' : `, ${Math.max(0, evidence).toFixed(1)} nats`
    return [
      `${paint(colour, sign)} ${paint('bold', safeLine(judgeName(judge)))}  ${status}${nats}`,
      of('pass', pass, level?.pass),
      of('fail', fail, level?.fail),
    ]
  })
  const judgeUse = new JudgeUse()
  for (const evaluation of evaluations) judgeUse.add(evaluation)
  const all = [...lines, ...failures.map((failure) => `${paint('red', '✗')} ${safeLine(failure)}`), judgeUse.describe()]
  return `${all.filter((line) => line !== '').join('\n')}\n`
}

async function deliver({ passes }: CanaryPass, out: string | undefined, context: CommandContext): Promise<void> {
  const request = toMetricsRequest(passes, Date.now(), context.environment)
  if (out !== undefined) writeText(out, `${JSON.stringify(request)}\n`)
  const target = metricsTarget(context.environment)
  if (target === undefined) {
    if (out === undefined) {
      context.stderr.write('spanscore: metrics are not sent: neither --out nor OTEL_EXPORTER_OTLP_ENDPOINT is set\n')
    }
    return
  }
  try {
    await sendMetrics(request, target)
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw new UsageError(`metrics could not be sent to ${target.url}: ${safeLine(why)}`)
  }
}
