import type { DatabaseSync } from 'node:sqlite'

import type { Evaluation } from 'spanscore/engine'
import type { SkipReason } from 'spanscore'

import type { RunSummary } from '../../src/page/store/run-summary.ts'
import { saveRun, saveScore } from '../../src/page/store/run-writer.ts'

/** The id of the run at an index. */
export function runIdAt(index: number): string {
  return `${index.toString(16).padStart(32, '0')}:${index.toString(16).padStart(16, '0')}`
}

export interface MadeScore {
  /** Position in the range, which is 0 to 1 and passes at 0.5; `undefined` if the judge did not answer. */
  readonly value?: number | undefined
  /** The reason, if the scorer skipped the run. */
  readonly skipped?: SkipReason
  readonly scorer?: string
  readonly version?: string
  readonly probability?: number
  readonly revision?: number
  /** How many attacks it found. */
  readonly found?: number
}

/** The verdict of a judge on a run. */
export function madeScore(
  runId: string,
  { value, scorer = 'judge', version = 'v1', probability = 1, revision = 1, found, skipped }: MadeScore,
): Evaluation {
  return {
    scorer: { id: scorer, version, kind: 'judge', range: [0, 1], better: 'higher', passAt: 0.5, level: 'run' },
    runId,
    revision,
    complete: true,
    probability,
    durationMs: 1,
    judge: { model: 'gpt-5-mini', calls: 1, usage: {} },
    score:
      skipped !== undefined
        ? { status: 'skipped', reason: skipped, message: '' }
        : value === undefined
          ? { status: 'failed', code: 'judge-timeout', message: '' }
          : {
              status: 'scored',
              value,
              label: value >= 0.5 ? 'pass' : 'fail',
              explanation: value >= 0.5 ? 'Because it is good.' : 'Because it is bad.',
              ...(found !== undefined && { found }),
            },
  }
}

/** Stores a run with the verdict of a judge. @returns Its id. */
export function storeScoredRun(
  database: DatabaseSync,
  index: number,
  score: MadeScore,
  change: Partial<RunSummary> & { readonly settledMs?: number } = {},
): string {
  const id = runIdAt(index)
  const [traceId = '', spanId = ''] = id.split(':')
  const { settledMs = index * 1000, ...rest } = change
  const summary: RunSummary = {
    id,
    traceId,
    spanId,
    parentId: null,
    agent: 'agent',
    agentVersion: '1',
    service: 's',
    userId: '',
    model: 'm',
    status: 'ok',
    question: `Question ${index}?`,
    answer: 'a',
    startMs: settledMs - 1,
    endMs: settledMs,
    isComplete: true,
    toolCalls: 0,
    failedToolCalls: 0,
    inputTokens: null,
    outputTokens: null,
    costUsd: null,
    ...rest,
  }
  const evaluation = madeScore(id, score)
  const { revision } = evaluation
  saveRun(database, summary, { text: summary.question, contentIds: [], settledMs, revision })
  saveScore(database, id, 'key', evaluation, JSON.stringify(evaluation))
  return id
}
