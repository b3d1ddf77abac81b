import { join } from 'node:path'
import type { MisplacedLabel } from '../calibration/calibrator.ts'
import { Calibrator } from '../calibration/calibrator.ts'
import { judgeName } from '../calibration/calibration.ts'
import { labellerAgreement, truthOf } from '../calibration/labellers.ts'
import type { Label } from '../../../src/cases/labels.ts'
import { canaryLine } from '../canary/canary-runs.ts'
import type { CommandContext } from '../command.ts'
import { createPaint, write } from '../output.ts'
import { readFiles } from '../read-files.ts'
import { safeLine } from '../text.ts'
import { UsageError } from '../usage-error.ts'
import {
  CALIBRATION_FILE,
  readCalibrations,
  withCalibrations,
  writeCalibrations,
  writeText,
} from './calibration-file.ts'
import { FeedbackAgreement } from './feedback-agreement.ts'
import { nothingToDraw } from './draw-runs.ts'
import { runsWithScores } from './judged-runs.ts'
import { readLabels, scoreOf } from './read-labels.ts'
import { renderPage } from './report-page.ts'
import { renderAgreement, renderCalibration } from './report-text.ts'

/** The command-line options of `spanscore calibrate`. */
export interface CalibrateOptions {
  /** The files of labels. */
  readonly labels: readonly string[]
  /** The labeller of lines that do not name one. */
  readonly labeller?: string
  /** The folder to write into. */
  readonly out: string
  /** The file of labelled runs for `spanscore canary`. */
  readonly canary?: string
}

const NARROWEST = 60
const WIDEST = 120

/** Compares labels with the scores in files, and writes the result for each judge. */
export async function calibrate(
  files: readonly string[],
  options: CalibrateOptions,
  context: CommandContext,
): Promise<void> {
  const { byScore, open } = await readLabels(options.labels, options.labeller)
  if (byScore.size === 0) {
    const why =
      open === 0 ? 'expected lines of spanscore calibrate draw, got none' : `"label" of all ${open} lines is still null`
    throw new UsageError(`no label in ${options.labels.join(', ')}: ${why}`)
  }
  const { calibrator, canaryLines, feedback, unversioned, scores } = await readScores(files, byScore, options, context)
  if (scores === 0) throw new UsageError(nothingToDraw({ before: 0, empty: 0, unversioned }))
  const misplaced = calibrator.misplaced()
  const wrong = misplaced.filter(({ problem }) => problem !== 'older-revision')
  if (wrong.length > 0) throw new UsageError(describeMisplaced(wrong))
  const { calibrations, uncalibrated } = calibrator.results()
  const whys = uncalibrated.map((each) => `${safeLine(judgeName(each))}: ${each.why}`)
  if (calibrations.length === 0) throw new UsageError(whys.join('; ') || describeMisplaced(misplaced))
  const file = join(options.out, CALIBRATION_FILE)
  const rules = join(options.out, 'rules', 'calibration.yml')
  const page = join(options.out, 'calibration.html')
  const all = withCalibrations(readCalibrations(file), calibrations)
  writeCalibrations({ file, rules }, all)
  writeText(page, renderPage(all))
  if (options.canary !== undefined) writeText(options.canary, canaryLines.join(''), 0o600)
  const style = {
    columns: Math.min(WIDEST, Math.max(NARROWEST, context.stdout.columns ?? 100)),
    paint: createPaint(context.stdout, context.environment),
  }
  const agreement = labellerAgreement(byScore.values())
  const left = misplaced.length - wrong.length
  const notes = [
    agreement === undefined ? '' : renderAgreement(agreement),
    ...feedback.describe(),
    ...whys.map((why) => `Not calibrated: ${why}.`),
    left === 0 ? '' : `${left} labels are of an older revision of their run and were left out.`,
    open === 0 ? '' : `${open} lines are not labelled yet.`,
    `Written: ${[file, rules, page].map(safeLine).join(', ')}.`,
    options.canary === undefined ? '' : `${safeLine(options.canary)} holds the labelled runs with their content.`,
  ]
  const parts = [...calibrations.map((each) => renderCalibration(each, style)), notes.filter(Boolean).join('\n')]
  await write(context.stdout, `${parts.join('\n\n')}\n`)
}

async function readScores(
  files: readonly string[],
  byScore: ReadonlyMap<string, readonly Label[]>,
  options: CalibrateOptions,
  context: CommandContext,
): Promise<{
  calibrator: Calibrator
  canaryLines: string[]
  feedback: FeedbackAgreement
  unversioned: number
  scores: number
}> {
  const calibrator = new Calibrator(byScore.values())
  const canaryLines: string[] = []
  const feedback = new FeedbackAgreement()
  let [unversioned, scores] = [0, 0]
  for await (const each of runsWithScores(readFiles(files, context).runs)) {
    unversioned += each.unversioned
    feedback.add(each)
    calibrator.addRun(each.run.id)
    for (const judged of each.judged) {
      scores++
      calibrator.add(judged)
      if (options.canary === undefined || judged.judgeModel === undefined) continue
      const labels = (byScore.get(scoreOf(judged)) ?? []).filter(({ revision }) => revision === judged.revision)
      if (labels.length === 0) continue
      const truth = truthOf(labels)
      if (truth !== 0.5) canaryLines.push(canaryLine(judged, truth === 1 ? 'pass' : 'fail', each.run))
    }
  }
  return { calibrator, canaryLines, feedback, unversioned, scores }
}

const SHOWN = 3

/** Describes what is wrong with labels and names the first few. */
function describeMisplaced(misplaced: readonly MisplacedLabel[]): string {
  const shown = misplaced.slice(0, SHOWN).map(({ label, problem, found = '' }) => {
    const { runId, scorer, version, judgeModel = 'no model', revision } = label
    switch (problem) {
      case 'unknown-run':
        return `run ${runId} is not in the files`
      case 'not-scored':
        return `run ${runId} has no score of ${scorer} in the files: give the events, too`
      case 'other-version':
        return `${scorer} of run ${runId} was labelled in version ${version}, and the files hold version ${found}`
      case 'other-judge':
        return `${scorer} of run ${runId} was labelled as ${judgeModel} judged it, and the files hold the score of ${found}`
      case 'newer-revision':
        return `${scorer} of run ${runId} was labelled in revision ${revision}, and the files hold ${found}: give the newer ones, too`
      case 'older-revision':
        return `${scorer} of run ${runId} was labelled in revision ${revision}, and the run has changed since (${found})`
      default:
        return problem satisfies never
    }
  })
  const more = misplaced.length > SHOWN ? `; and ${misplaced.length - SHOWN} more` : ''
  const count = misplaced.length === 1 ? '1 label belongs' : `${misplaced.length} labels belong`
  return `${count} to no score: ${shown.join('; ')}${more}. Give the files that the runs were drawn from`
}
