import type { AgentRun, StoredCallScore, StoredScore } from 'spanscore/engine'
import { storedWeight } from 'spanscore/engine'

import type { ShownEvaluation } from './shown-evaluation.ts'

/**
 * A score that the spans or records have, as a result; `undefined` if it is neither a number, nor a verdict, nor a reason. One that is only on a span has a
 * weight and no range, so that it counts in failing shares and in no mean.
 */
export function toEvaluation(run: AgentRun, stored: StoredScore): ShownEvaluation | undefined {
  const { scorerId, about, level } = stored
  const calls = stored.calls?.flatMap((call) => callOf(call, level === 'tool-call' ? run.toolCalls : []) ?? [])
  const score = scoreOf(stored)
  if (score === undefined) return undefined
  return {
    scorer: {
      id: scorerId,
      ...(isLevel(level) && { level }),
      ...(about !== undefined && {
        version: about.version,
        kind: about.judgeModel === undefined ? 'code' : 'judge',
        range: about.range,
        better: about.better,
      }),
    },
    runId: run.id,
    revision: about?.revision ?? 1,
    complete: run.complete,
    ...(about?.judgeModel !== undefined && { judge: { model: about.judgeModel } }),
    // `spanscore score` scores every run of a file, and so writes no probability.
    ...(about !== undefined && { probability: about.probability ?? 1 }),
    ...(about?.upstreamProbability !== undefined && { upstreamProbability: about.upstreamProbability }),
    weight: storedWeight(stored),
    score,
    ...(calls !== undefined && { calls }),
  }
}

function isLevel(level: string | undefined): level is 'tool-call' | 'retrieval' | 'conversation' {
  return level === 'tool-call' || level === 'retrieval' || level === 'conversation'
}

function callOf(
  { index, ...stored }: StoredCallScore,
  toolCalls: AgentRun['toolCalls'],
): NonNullable<ShownEvaluation['calls']>[number] | undefined {
  const score = scoreOf(stored)
  if (index === undefined || score === undefined) return undefined
  const name = toolCalls[index]?.name
  return { index, ...(name !== undefined && { name }), score }
}

function scoreOf({
  value,
  label,
  found,
  explanation,
  findings,
  status,
  reason,
  message,
}: Omit<StoredScore, 'scorerId'>): ShownEvaluation['score'] | undefined {
  const isVerdict = label === 'pass' || label === 'fail'
  if (value !== undefined || isVerdict) {
    return {
      status: 'scored',
      ...(value !== undefined && { value }),
      ...(isVerdict && { label }),
      ...(found !== undefined && { found }),
      ...(explanation !== undefined && { explanation }),
      ...(findings !== undefined && { findings }),
    }
  }
  if (status === 'failed' || status === 'skipped') {
    const said = { message: message ?? reason ?? status }
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a reason of the version that wrote the file
    return (
      status === 'failed'
        ? { status, code: reason ?? 'unknown', ...said }
        : { status, reason: reason ?? 'unknown', ...said }
    ) as ShownEvaluation['score']
  }
  return undefined
}
