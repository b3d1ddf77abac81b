import { contentFree, explain, joinExplanations } from '../model/explanation.ts'
import type { Explanation } from '../model/explanation.ts'
import type { AgentRun, Retrieval, ToolCall } from '../model/agent-run.ts'
import type { CallScore, Score, Scored, ScorerLevel, Skipped } from '../model/score.ts'
import { skipWithoutAllCalls } from './absence.ts'
import type { Scorer, Verdict } from './scorer.ts'
import { skipped } from './unscored.ts'
import { toScore } from './verdict.ts'

/** The calls of a run at a level; none at the level of runs. */
export function callsAt(run: AgentRun, level: ScorerLevel): readonly (ToolCall | Retrieval)[] {
  return level === 'tool-call' ? run.toolCalls : level === 'retrieval' ? run.retrievals : []
}

/** What the calls of a level are called. */
export function callNoun(level: ScorerLevel, count: number): string {
  const noun = level === 'retrieval' ? 'retrieval' : 'tool call'
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

/** Why a scorer of calls cannot look at any. */
export function skipWithoutCallsAt(run: AgentRun, level: ScorerLevel, id: string): Skipped {
  const unknown = level === 'tool-call' ? skipWithoutAllCalls(run, id) : undefined
  return (
    unknown ??
    skipped(
      'not-applicable',
      contentFree(`${id}: the run has no ${level === 'retrieval' ? 'retrieval' : 'tool call'}.`),
    )
  )
}

/**
 * The scores of calls that a scorer returned; `undefined` if it returned none that can be read. What is not a verdict fails its call alone.
 * Never throws.
 */
export function toCallScores(
  scorer: Scorer,
  passAt: number | undefined,
  run: AgentRun,
  verdict: Verdict,
): readonly CallScore[] | undefined {
  try {
    if (verdict?.status !== 'calls' || scorer.level === 'run') return undefined
    const known = callsAt(run, scorer.level)
    return verdict.calls.map(({ index, verdict: ofCall }) => {
      return { index, ...namesOf(known[index]), score: toScore(scorer, passAt, ofCall) }
    })
  } catch {
    return undefined
  }
}

function namesOf(call: ToolCall | Retrieval | undefined): Omit<CallScore, 'index' | 'score'> {
  if (call === undefined) return {}
  const { spanId } = call
  const ofSpan = spanId === undefined ? {} : { spanId }
  if ('kind' in call) return { ...(call.source !== undefined && { name: call.source }), ...ofSpan }
  const { id, name, traceId } = call
  return { name, ...(id !== undefined && { toolCallId: id }), ...ofSpan, ...(traceId !== undefined && { traceId }) }
}

/** How many calls an explanation names. */
const MAX_NAMED = 3

/**
 * The score of a run by its calls: the mean of those that have a score, which fails if one of them fails. Without such a call, it is what
 * kept the scorer from scoring them.
 *
 * @param details what was found, if the scorer is a judge
 */
export function scoreOfCalls(scorer: Scorer, run: AgentRun, calls: readonly CallScore[], details: unknown): Score {
  const scored = calls.flatMap(({ name, score }) => (score.status === 'scored' ? [{ name, score }] : []))
  if (scored.length === 0) {
    const unscored = calls.map(({ score }) => score)
    return (
      unscored.find(({ status }) => status === 'failed') ??
      unscored.find((score) => score.status === 'skipped' && score.reason !== 'not-applicable') ??
      unscored[0] ??
      skipWithoutCallsAt(run, scorer.level, scorer.id)
    )
  }
  const value = scored.reduce((sum, { score }) => sum + score.value, 0) / scored.length
  const failing = scored.filter(({ score }) => score.label === 'fail')
  const sign = scorer.better === 'higher' ? 1 : -1
  const worst = failing.toSorted((left, right) => sign * (left.score.value - right.score.value)).slice(0, MAX_NAMED)
  const [low, high] = scorer.range
  const { text, withoutContent } = explainCalls(scorer.level, scored.length, failing.length, worst)
  return {
    status: 'scored',
    // The mean of equal numbers may miss them by a rounding error.
    value: Math.min(high, Math.max(low, value)),
    label: failing.length === 0 ? 'pass' : 'fail',
    explanation: text,
    explanationWithoutContent: withoutContent,
    ...(scorer.kind === 'judge' && details !== undefined && { details }),
  }
}

function explainCalls(
  level: ScorerLevel,
  count: number,
  failing: number,
  worst: readonly { readonly name: string | undefined; readonly score: Scored }[],
): Explanation {
  const all = contentFree(callNoun(level, count))
  if (failing === 0) return explain`${all}, of which none fails.`
  const named = worst.map(({ name, score: { value, explanation = '', explanationWithoutContent = '' } }) => {
    const why = { text: explanation, withoutContent: explanationWithoutContent }
    const because = explanation === '' ? contentFree('') : explain` (${why})`
    return explain`${name ?? contentFree('one')} ${Number(value.toFixed(3))}${because}`
  })
  const more = failing > worst.length ? contentFree('; …') : contentFree('')
  return explain`${failing} of ${all} ${contentFree(failing === 1 ? 'fails' : 'fail')}: ${joinExplanations(named, '; ')}${more}`
}
