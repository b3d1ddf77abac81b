import type { DatabaseSync } from 'node:sqlite'

import type { AgentRun } from 'spanscore/engine'

import type { Ingest } from './ingest.ts'
import { findRun } from './store/content.ts'
import { all, first } from './store/page-database.ts'
import { isWithheld } from './store/withheld.ts'

/** Characters of one text that the page of a run shows. Copying the run as JSON gives all. */
const MAX_CHARACTERS = 20_000

interface ScoreRow {
  readonly run_id: string
  readonly scorer: string
  readonly version: string
  readonly evaluation: string
  readonly score_key: string
  readonly is_withheld: number
}

interface ReadParts {
  readonly database: DatabaseSync
  readonly ingest: Ingest
}

/**
 * All that the page of a run shows; `undefined` where no such run is known.
 *
 * @param labeller Who looks: of scores that this person is to label only the scorer is named.
 */
export function readRun({ database, ingest }: ReadParts, runId: string, labeller: string): unknown {
  const traceId = traceIdOf(runId)
  const content = ingest.contentOf(traceId)
  const run = findRun(content, runId) ?? findRun(content, `${traceId}:${content.spans[0]?.spanId ?? ''}`)
  if (run === undefined) return undefined
  const stored = first<{
    seq: number
    revision: number
    settled_ms: number
    parent_id: string | null
    cost_usd: number | null
  }>(database, 'SELECT seq, revision, settled_ms, parent_id, cost_usd FROM runs WHERE id = ?', runId)
  const scores = all<ScoreRow>(
    database,
    `SELECT r.id AS run_id, s.scorer, s.version, s.evaluation, s.score_key, ${isWithheld('r.id', 's')} AS is_withheld
     FROM scores s JOIN runs r ON r.seq = s.run_seq WHERE r.trace_id = ? ORDER BY s.scorer`,
    labeller,
    labeller,
    traceId,
  )
  return {
    run: shortened(JSON.parse(JSON.stringify(run))),
    stored,
    isOpen: stored === undefined,
    scores: scores
      .filter(({ is_withheld: withheld }) => withheld === 0)
      .map(({ run_id: id, evaluation, score_key: scoreKey }) => ({
        runId: id,
        scoreKey,
        evaluation: shortened(JSON.parse(evaluation)),
      })),
    withheld: scores
      .filter(({ is_withheld: withheld }) => withheld === 1)
      .map(({ run_id: id, scorer, version }) => ({ runId: id, scorer, version })),
    spans: content.spans
      .toSorted((left, right) => left.startTimeMs - right.startTimeMs)
      .map((span) => shortened(JSON.parse(JSON.stringify(span)))),
  }
}

/** A run with all of its content. */
export function runAsJson(ingest: Ingest, runId: string): AgentRun | undefined {
  return findRun(ingest.contentOf(traceIdOf(runId)), runId)
}

/** The runs of some ids; those that are not known are left out. */
export function readRuns(ingest: Ingest, runIds: readonly string[]): readonly AgentRun[] {
  return runIds.flatMap((runId) => runAsJson(ingest, runId) ?? [])
}

function traceIdOf(runId: string): string {
  return runId.split(':')[0] ?? ''
}

function shortened(value: unknown): unknown {
  if (typeof value === 'string') {
    return value.length <= MAX_CHARACTERS
      ? value
      : `${value.slice(0, MAX_CHARACTERS).toWellFormed()}… (${value.length - MAX_CHARACTERS} more characters: copy the run as JSON)`
  }
  if (Array.isArray(value)) return value.map(shortened)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, child]: [string, unknown]) => [key, shortened(child)]))
}
