import type { Calibration, JudgeIdentity } from './calibration.ts'
import { judgeKey } from './calibration.ts'
import { truthOf } from './labellers.ts'
import { probabilityFor } from './draw.ts'
import type { Label } from '../../../src/cases/labels.ts'
import { ppiMean } from './ppi-mean.ts'
import type { LabelledScore, UnlabelledSums } from './ppi-mean.ts'
import { ratesOf } from './rates.ts'
import type { VerdictGroup } from './rates.ts'

/** A judge is calibrated only if people pass at least this many of the labelled runs, and fail at least this many. */
export const LEAST_LABELS = 10

/** A stored score. */
export interface JudgedRun extends JudgeIdentity {
  readonly runId: string
  readonly revision: number
  readonly label: 'pass' | 'fail'
  /** Position of the score in its range, 0 to 1, higher is better. */
  readonly score: number
  /** How many runs the score represents: 1/(probability with which its run was scored). */
  readonly weight: number
  /** When the run ended: milliseconds since the epoch. */
  readonly timeMs: number
}

/** A judge that cannot be calibrated with these labels, and what is missing. */
export interface Uncalibrated extends JudgeIdentity {
  readonly why: string
}

/** Why a label cannot be used. */
export type LabelProblem =
  | 'unknown-run'
  | 'not-scored'
  | 'other-version'
  | 'other-judge'
  | 'newer-revision'
  | 'older-revision'

/** A label whose score is not in the files. `found` is what the files hold for this run instead. */
export interface MisplacedLabel {
  readonly label: Label
  readonly problem: LabelProblem
  readonly found?: string
}

interface VerdictSums {
  runs: number
  w: number
  w2: number
  readonly labelled: LabelledScore[]
  /** Sums over the runs that nobody labelled. */
  readonly rest: { -readonly [Key in keyof UnlabelledSums]: UnlabelledSums[Key] }
  /** For each draw probability, how many labels have it. */
  readonly byProbability: Map<number, number>
}

interface Group {
  readonly judge: JudgeIdentity
  readonly pass: VerdictSums
  readonly fail: VerdictSums
  fromMs: number
  toMs: number
  labelledAt: string
  labelledPass: number
  labelledFail: number
}

/** Compares labels with stored scores. Memory grows with the number of labels, not with the number of scores. */
export class Calibrator {
  readonly #labels = new Map<string, readonly Label[]>()
  readonly #labelledRuns = new Set<string>()
  readonly #seenRuns = new Set<string>()
  readonly #seen = new Map<string, JudgedRun>()
  readonly #groups = new Map<string, Group>()

  /** @param labels For each score its labels, by one or several people. */
  constructor(labels: Iterable<readonly Label[]>) {
    for (const ofScore of labels) {
      const [first] = ofScore
      if (first === undefined) continue
      this.#labels.set(placeOf(first), ofScore)
      this.#labelledRuns.add(first.runId)
    }
  }

  /** Adds a run of the files, scored or not. */
  addRun(runId: string): void {
    if (this.#labelledRuns.has(runId)) this.#seenRuns.add(runId)
  }

  /** Adds a score of the files. It must be the one of the highest revision for its run and scorer. */
  add(judged: JudgedRun): void {
    const labels = this.#labels.get(placeOf(judged))
    if (labels !== undefined) this.#seen.set(placeOf(judged), judged)
    const group = this.#groupOf(judged)
    group.fromMs = Math.min(group.fromMs, judged.timeMs)
    group.toMs = Math.max(group.toMs, judged.timeMs)
    const verdict = group[judged.label]
    const { weight, score } = judged
    verdict.runs++
    verdict.w += weight
    verdict.w2 += weight ** 2
    const fitting = (labels ?? []).filter((label) => problemOf(label, judged) === undefined)
    const [first] = fitting
    if (first === undefined) {
      verdict.rest.w += weight
      verdict.rest.w2 += weight ** 2
      verdict.rest.wf += weight * score
      verdict.rest.wf2 += weight * score ** 2
      return
    }
    const truth = truthOf(fitting)
    const drawProbability = probabilityFor(first.drawProbability, judged.label)
    verdict.labelled.push({ weight: weight / drawProbability, truth, score })
    verdict.byProbability.set(drawProbability, (verdict.byProbability.get(drawProbability) ?? 0) + 1)
    // If people are evenly divided, the run counts half as passing and half as failing, and not towards `LEAST_LABELS`.
    if (truth === 1) group.labelledPass++
    if (truth === 0) group.labelledFail++
    for (const { labelledAt } of fitting) if (isLater(labelledAt, group.labelledAt)) group.labelledAt = labelledAt
  }

  /** The labels whose score is not in the files. Call it after all scores were added. */
  misplaced(): readonly MisplacedLabel[] {
    return [...this.#labels].flatMap(([place, labels]) => {
      const judged = this.#seen.get(place)
      return labels.flatMap((label): MisplacedLabel[] => {
        if (judged === undefined) {
          return [{ label, problem: this.#seenRuns.has(label.runId) ? 'not-scored' : 'unknown-run' }]
        }
        const problem = problemOf(label, judged)
        return problem === undefined ? [] : [{ label, ...problem }]
      })
    })
  }

  /** The result for each judge that has labels. */
  results(): { readonly calibrations: readonly Calibration[]; readonly uncalibrated: readonly Uncalibrated[] } {
    const calibrations: Calibration[] = []
    const uncalibrated: Uncalibrated[] = []
    for (const group of this.#groups.values()) {
      if (group.pass.labelled.length + group.fail.labelled.length === 0) continue
      const why = whyNot(group)
      if (why === undefined) calibrations.push(toCalibration(group))
      else uncalibrated.push({ ...group.judge, why })
    }
    return { calibrations, uncalibrated }
  }

  #groupOf({ scorer, version, judgeModel }: JudgedRun): Group {
    const judge = { scorer, version, ...(judgeModel !== undefined && { judgeModel }) }
    const key = judgeKey(judge)
    let group = this.#groups.get(key)
    if (group === undefined) {
      group = {
        judge,
        pass: newVerdict(),
        fail: newVerdict(),
        fromMs: Number.POSITIVE_INFINITY,
        toMs: Number.NEGATIVE_INFINITY,
        labelledAt: '',
        labelledPass: 0,
        labelledFail: 0,
      }
      this.#groups.set(key, group)
    }
    return group
  }
}

function placeOf({ runId, scorer }: Pick<Label, 'runId' | 'scorer'>): string {
  return `${runId} ${scorer}`
}

function isLater(time: string, than: string): boolean {
  return than === '' || Date.parse(time) > Date.parse(than)
}

function newVerdict(): VerdictSums {
  const rest = { w: 0, w2: 0, wf: 0, wf2: 0 }
  return { runs: 0, w: 0, w2: 0, labelled: [], rest, byProbability: new Map() }
}

function problemOf(label: Label, judged: JudgedRun): { problem: LabelProblem; found: string } | undefined {
  if (label.version !== judged.version) return { problem: 'other-version', found: judged.version }
  if (label.judgeModel !== judged.judgeModel) return { problem: 'other-judge', found: judged.judgeModel ?? 'no model' }
  if (label.revision > judged.revision) return { problem: 'newer-revision', found: String(judged.revision) }
  if (label.revision < judged.revision) return { problem: 'older-revision', found: String(judged.revision) }
  return undefined
}

/** Says what cannot be estimated because there are too few labels of one kind. */
function few(count: number, kind: string, what: string): string | undefined {
  if (count >= LEAST_LABELS) return undefined
  return (
    `people ${kind} ${count === 0 ? 'none' : `only ${count}`} of the labelled runs, so ${what} cannot be estimated: ` +
    `label until they ${kind} at least ${LEAST_LABELS} (spanscore calibrate draw --labels …)`
  )
}

/** Says why a judge cannot be calibrated with its labels, and what to do; `undefined` if it can. */
function whyNot({ pass, fail, labelledPass, labelledFail }: Group): string | undefined {
  const tooFew =
    few(labelledPass, 'pass', 'sensitivity (how many of the good runs the judge passes)') ??
    few(labelledFail, 'fail', 'specificity (how many of the bad runs the judge fails)')
  if (tooFew !== undefined) return tooFew
  for (const [verdict, name] of [
    [pass, 'passes'],
    [fail, 'fails'],
  ] as const) {
    if (verdict.runs > 0 && verdict.labelled.length === 0) {
      return `no label is of the ${verdict.runs} runs that the judge ${name}: draw again with spanscore calibrate draw`
    }
    const drawnFrom = Math.max(0, ...[...verdict.byProbability].map(([probability, count]) => count / probability))
    if (drawnFrom > 2 * verdict.runs) {
      return (
        `the labels were drawn from some ${Math.round(drawnFrom).toLocaleString('en')} runs that the judge ${name}, and the files ` +
        `hold ${verdict.runs.toLocaleString('en')}: give all the files that they were drawn from`
      )
    }
  }
  return undefined
}

function toCalibration({ judge, pass, fail, ...of }: Group): Calibration {
  const w = pass.w + fail.w
  const n = w ** 2 / (pass.w2 + fail.w2)
  const rates = ratesOf(toVerdictGroup(pass, w), toVerdictGroup(fail, w), n)
  const toPpi = (verdict: VerdictSums) => ({
    share: verdict.w / w,
    labelled: verdict.labelled,
    unlabelled: verdict.rest,
  })
  return {
    ...judge,
    from: new Date(of.fromMs).toISOString(),
    to: new Date(of.toMs).toISOString(),
    labelledAt: of.labelledAt,
    judged: pass.runs + fail.runs,
    labelledPass: of.labelledPass,
    labelledFail: of.labelledFail,
    judgePassed: pass.w / w,
    ...rates,
    ppi: ppiMean([toPpi(pass), toPpi(fail)], n),
  }
}

function toVerdictGroup({ w, labelled }: VerdictSums, all: number): VerdictGroup {
  let [sum, squares, passed] = [0, 0, 0]
  for (const { weight, truth } of labelled) {
    sum += weight
    squares += weight ** 2
    passed += weight * truth
  }
  return { share: w / all, passed: sum > 0 ? passed / sum : 0, n: squares > 0 ? sum ** 2 / squares : 0 }
}
