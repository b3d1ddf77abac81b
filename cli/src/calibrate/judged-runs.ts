import type { JudgedRun } from '../calibration/calibrator.ts'
import { positionInRange } from '../../../src/emit/position-in-range.ts'
import type { AgentRun } from '../../../src/model/agent-run.ts'
import type { StoredRun } from '../../../src/otlp/runs-by-start.ts'
import type { StoredScore } from '../../../src/otlp/stored-score.ts'
import { weightAt } from '../../../src/sampling/weight.ts'

/** A run from trace files, top-level or nested, with its scores from events and late spans. */
export interface RunWithScores {
  readonly run: AgentRun
  readonly judged: readonly JudgedRun[]
  /** What users say of the run, if it is good or bad. */
  readonly feedback: readonly { readonly name: string; readonly label: 'pass' | 'fail' }[]
  /** Scores of unknown scorer version, because only the agent's span has them. */
  readonly unversioned: number
}

/** The runs of trace files and the runs nested in them, each with its scores. */
export async function* runsWithScores(runs: AsyncIterable<StoredRun>): AsyncGenerator<RunWithScores> {
  for await (const { run, scoresOf } of runs) {
    for (const one of withNested(run)) {
      const stored = scoresOf(one)
      const scored = stored.filter(({ value, isForeign }) => value !== undefined && isForeign !== true)
      const judged = scored.flatMap((score) => toJudged(one, score) ?? [])
      const unversioned = scored.filter(({ about }) => about === undefined).length
      yield { run: one, judged, feedback: stored.flatMap(toFeedback), unversioned }
    }
  }
}

function* withNested(run: AgentRun): Generator<AgentRun> {
  yield run
  for (const child of run.children) yield* withNested(child)
}

function toFeedback({ scorerId: name, label, evaluatorType }: StoredScore): RunWithScores['feedback'] {
  return evaluatorType === 'user' && (label === 'pass' || label === 'fail') ? [{ name, label }] : []
}

function toJudged(run: AgentRun, { scorerId, value, label, about }: StoredScore): JudgedRun | undefined {
  if (about === undefined || value === undefined || (label !== 'pass' && label !== 'fail')) return undefined
  const { version, judgeModel, revision, range, better, probability, upstreamProbability } = about
  return {
    runId: run.id,
    scorer: scorerId,
    version,
    ...(judgeModel !== undefined && { judgeModel }),
    revision,
    label,
    score: positionInRange({ scorer: { range, better } }, value),
    weight: probability !== undefined && probability > 0 ? weightAt(probability, upstreamProbability) : 1,
    timeMs: run.endTimeMs,
  }
}
