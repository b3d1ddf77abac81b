import type { AgentRun } from '../model/agent-run.ts'
import { createKeywordCoverageScorer } from '../scorers/code/keyword-coverage.ts'
import { createTrajectoryScorer } from '../scorers/code/trajectory.ts'
import type { Scorer } from '../scoring/scorer.ts'
import type { AgentCase } from './agent-case.ts'

/** The scorers that compare a run with what its case expects. Those that no case needs are left out. */
export function caseScorers(
  cases: readonly AgentCase[],
  caseOf: (run: AgentRun) => AgentCase | undefined,
): readonly Scorer[] {
  return [
    ...(cases.some(({ expected }) => expected.trajectory !== null)
      ? [
          createTrajectoryScorer({
            id: 'case_trajectory',
            expected: (run) => caseOf(run)?.expected.trajectory ?? undefined,
          }),
        ]
      : []),
    ...(cases.some(({ expected }) => expected.answer !== null)
      ? [
          createKeywordCoverageScorer({
            id: 'case_answer',
            keywords: (run) => {
              const { answer = null } = caseOf(run)?.expected ?? {}
              return answer === null ? undefined : [answer]
            },
          }),
        ]
      : []),
  ]
}

/** The expected answer for scorers that compare with one. */
export function groundTruthOf({ expected }: AgentCase): string | undefined {
  const { answer } = expected
  return typeof answer === 'string' ? answer : answer?.[0]
}
