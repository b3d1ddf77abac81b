import type { JudgeIdentity } from '../calibration/calibration.ts'
import { judgeKey, judgeName } from '../calibration/calibration.ts'
import type { JudgedRun } from '../calibration/calibrator.ts'
import { UsageError } from '../usage-error.ts'

/** How the user identifies the judge. */
export interface JudgeChoice {
  /** The scorer's id. */
  readonly scorer?: string
  /** The scorer's version. */
  readonly scorerVersion?: string
  /** The model that answered. */
  readonly judge?: string
}

/** The chosen judge, its scores, and the other judges of the same scorer. */
export interface ChosenJudge {
  readonly judge: JudgeIdentity
  readonly scores: readonly JudgedRun[]
  readonly others: readonly string[]
}

/**
 * The scores of one scorer in one version with one judge model; if several match, those of the latest run.
 *
 * @throws UsageError if no score matches, or if scores of several scorers match.
 */
export function chooseJudge(all: readonly JudgedRun[], choice: JudgeChoice): ChosenJudge {
  const scorers = [...new Set(all.map(({ scorer }) => scorer))].toSorted()
  const [first] = scorers
  if (first === undefined) throw new UsageError('no score in the files to draw from')
  if (choice.scorer === undefined && scorers.length > 1) {
    throw new UsageError(`--scorer: expected which scorer's runs are to be labelled, one of ${scorers.join(', ')}`)
  }
  const scorer = choice.scorer ?? first
  if (!scorers.includes(scorer)) {
    throw new UsageError(`--scorer: expected one of the scorers in the files (${scorers.join(', ')}), got ${scorer}`)
  }
  const groups = new Map<string, JudgedRun[]>()
  for (const score of all) {
    if (score.scorer !== scorer) continue
    const key = judgeKey(score)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [score])
    else group.push(score)
  }
  const { scorerVersion, judge } = choice
  const fitting = [...groups.values()].filter(
    ([one]) =>
      (scorerVersion === undefined || one?.version === scorerVersion) &&
      (judge === undefined || one?.judgeModel === judge),
  )
  const names = [...groups.values()].flatMap(([one]) => (one === undefined ? [] : [judgeName(one)]))
  let latest: readonly JudgedRun[] = []
  let latestMs = Number.NEGATIVE_INFINITY
  for (const scores of fitting) {
    const endMs = scores.reduce((last, { timeMs }) => Math.max(last, timeMs), Number.NEGATIVE_INFINITY)
    if (endMs > latestMs) [latest, latestMs] = [scores, endMs]
  }
  const [one] = latest
  if (one === undefined) {
    const asked = [scorerVersion && `--scorer-version ${scorerVersion}`, judge && `--judge ${judge}`].filter(Boolean)
    throw new UsageError(`${asked.join(', ')}: no score in the files matches; they hold ${names.join(', ')}`)
  }
  const name = judgeName(one)
  const { version, judgeModel } = one
  return {
    judge: { scorer, version, ...(judgeModel !== undefined && { judgeModel }) },
    scores: latest,
    others: names.filter((other) => other !== name),
  }
}
