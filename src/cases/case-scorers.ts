import type { AgentRun } from '../model/agent-run.ts'
import { createKeywordCoverageScorer } from '../scorers/code/keyword-coverage.ts'
import { createTrajectoryScorer } from '../scorers/code/trajectory.ts'
import type { ExpectedAnswer, Scorer } from '../scoring/scorer.ts'
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
    ...(cases.some(({ expected }) => expected.mentions !== null)
      ? [
          createKeywordCoverageScorer({
            id: 'case_mentions',
            keywords: (run) => {
              const { mentions = null } = caseOf(run)?.expected ?? {}
              return mentions === null ? undefined : [mentions]
            },
          }),
        ]
      : []),
  ]
}

/** What scorers that compare with an expected answer get of a case. */
export function givenOf({ expected }: AgentCase): ExpectedAnswer {
  const { answer, points = null } = expected
  return { ...(answer !== null && { groundTruth: answer }), ...(points !== null && { points: points.list }) }
}

/**
 * True if something is expected of the answer, or if a scorer that failed it before scores it again.
 *
 * @param scorers ids of the scorers that score it
 * @param readsAnswers whether one of them compares with the expected answer
 */
export function isChecked(
  { expected, wrong }: AgentCase,
  scorers: ReadonlySet<string>,
  readsAnswers: boolean,
): boolean {
  const { answer, mentions, trajectory } = expected
  const isExpected = mentions !== null || trajectory !== null || (answer !== null && readsAnswers)
  return isExpected || wrong.some(({ scorer, label }) => label === 'fail' && scorers.has(scorer))
}

const JUDGE_NOT_ASKED: ReadonlySet<string> = new Set(['judge-unavailable', 'circuit-open', 'refused', 'thinned'])

/**
 * Whether a scorer that skipped a run leaves open whether the case passes: it compares with what the case expects, or its judge was not asked.
 *
 * @param readsAnswers whether it compares with the expected answer
 */
export function leavesOpen(
  { expected }: AgentCase,
  { id, reason, readsAnswers }: { readonly id: string; readonly reason: string; readonly readsAnswers: boolean },
): boolean {
  return (
    JUDGE_NOT_ASKED.has(reason) ||
    (readsAnswers && expected.answer !== null) ||
    (id === 'case_trajectory' && expected.trajectory !== null) ||
    (id === 'case_mentions' && expected.mentions !== null)
  )
}

/** What to say if cases have an expected answer that no scorer compares with. */
export function unreadAnswers(cases: readonly AgentCase[], scorers: readonly Scorer[]): string | undefined {
  const isRead = scorers.some(({ needs }) => needs.includes('groundTruth'))
  const unread = cases.filter(({ expected }) => expected.answer !== null).length
  if (isRead || unread === 0) return undefined
  return `${unread} of ${cases.length} cases have an expected answer that no scorer compares with: add answer_correctness, or move texts that must occur to expected.mentions`
}
