import { createHash } from 'node:crypto'
import pMap from 'p-map'
import type { Agreement, JudgeIdentity } from '../calibration/calibration.ts'
import { judgeKey } from '../calibration/calibration.ts'
import type { Evaluation } from '../../../src/model/score.ts'
import type { ResolvedOptions } from '../../../src/engine/config/options.ts'
import { RunScorers } from '../score/run-scorers.ts'
import { safeLine } from '../text.ts'
import { UsageError } from '../usage-error.ts'
import type { CanaryRun } from './canary-runs.ts'

/** The agreement of one judge with people on the labelled runs. */
export interface JudgePass {
  readonly judge: JudgeIdentity
  /** A hash, in 8 hex digits, of the scorer's labelled runs and their labels. */
  readonly set: string
  /** Agreement on the runs that people pass. `fail` is that on the runs that they fail. */
  readonly pass: Agreement
  readonly fail: Agreement
}

/** The result of a pass over the labelled runs. */
export interface CanaryPass {
  readonly passes: readonly JudgePass[]
  /** Why runs have no verdict, by scorer, and how many. */
  readonly unjudged: readonly { readonly scorer: string; readonly reason: string; readonly count: number }[]
  readonly evaluations: readonly Evaluation[]
}

/** Scores labelled runs again with the configured scorers, `concurrency` runs at a time. */
export async function judgeAgain(runs: readonly CanaryRun[], options: ResolvedOptions): Promise<CanaryPass> {
  const scorers = new Map([...new Set(runs.map(({ scorer }) => scorer))].map((id) => [id, scorerOf(id, options)]))
  const counts = new Map<string, { readonly judge: JudgeIdentity; readonly pass: Counts; readonly fail: Counts }>()
  const unjudged = new Map<string, { readonly scorer: string; readonly reason: string; count: number }>()
  const evaluations: Evaluation[] = []
  await pMap(
    runs,
    async ({ scorer, label, run }) => {
      const scored = await scorers.get(scorer)?.score(run)
      const evaluation = scored?.find((one) => one.run.id === run.id)?.evaluations[0]
      if (evaluation !== undefined) evaluations.push(evaluation)
      if (evaluation?.score.status !== 'scored') {
        const reason = reasonOf(evaluation)
        const known = unjudged.get(`${scorer} ${reason}`) ?? { scorer, reason, count: 0 }
        known.count++
        unjudged.set(`${scorer} ${reason}`, known)
        return
      }
      const judge: JudgeIdentity = {
        scorer,
        version: evaluation.scorer.version,
        ...(evaluation.judge !== undefined && { judgeModel: evaluation.judge.model }),
      }
      const known = counts.get(judgeKey(judge)) ?? { judge, pass: { runs: 0, agreed: 0 }, fail: { runs: 0, agreed: 0 } }
      counts.set(judgeKey(judge), known)
      known[label].runs++
      if (evaluation.score.label === label) known[label].agreed++
    },
    { concurrency: options.concurrency },
  )
  const passes = [...counts.values()].map((each) => ({ ...each, set: setOf(each.judge.scorer, runs) }))
  return { passes, unjudged: [...unjudged.values()], evaluations }
}

type Counts = { -readonly [Key in keyof Agreement]: Agreement[Key] }

/** @throws UsageError if the scorer is not configured, or has no judge. */
function scorerOf(id: string, options: ResolvedOptions): RunScorers {
  const found = options.scorers.find((scorer) => scorer.id === id)
  if (found === undefined) {
    const ids = options.scorers.map((scorer) => scorer.id).join(', ')
    throw new UsageError(`expected the configuration to have the labelled scorer ${safeLine(id)}, got ${ids}`)
  }
  if (found.scorer.kind !== 'judge') throw new UsageError(`${id} does not use a judge, so it cannot drift`)
  return new RunScorers({
    options: { ...options, scorers: [found] },
    judgeLimit: Number.POSITIVE_INFINITY,
    matches: () => true,
  })
}

function reasonOf(evaluation: Evaluation | undefined): string {
  if (evaluation === undefined) return 'the configuration excludes the run (agent, when)'
  const { score } = evaluation
  if (score.status === 'skipped') return score.reason
  return score.status === 'failed' ? score.code : ''
}

function setOf(scorer: string, runs: readonly CanaryRun[]): string {
  const lines = runs.filter((run) => run.scorer === scorer).map(({ run, label }) => `${run.id} ${label}`)
  return createHash('sha256').update(lines.toSorted().join('\n')).digest('hex').slice(0, 8)
}
