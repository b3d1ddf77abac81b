import type { AgentRun } from '../model/agent-run.ts'
import type { Score } from '../model/score.ts'

/** The tool of the call at which the first bad finding of a score is, or of its result; `undefined` if it is at none. */
export function toolOfFinding(score: Score, run: AgentRun): string | undefined {
  if (score.status !== 'scored') return undefined
  const { places = [] } = score.findings?.find(({ rating }) => rating === 'bad') ?? {}
  const place =
    places.find(({ in: part }) => part === 'call') ??
    places.find(({ in: part }) => part === 'arguments' || part === 'result')
  if (place?.index === undefined) return undefined
  const { runId, index } = place
  const of = runId === undefined ? run : runsWithin(run).find(({ id }) => id === runId)
  return of?.toolCalls[index]?.name
}

/** The runs of a conversation, or a run and those below it. */
function runsWithin(run: AgentRun): readonly AgentRun[] {
  return run.conversation?.runs.flatMap(runsWithin) ?? [run, ...run.children.flatMap(runsWithin)]
}
