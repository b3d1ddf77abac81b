import type { DatabaseSync } from 'node:sqlite'

import { toCase } from 'spanscore/engine'
import type { AgentRun, SourceSpan } from 'spanscore/engine'

import type { ShownRuns } from './ingest.ts'
import { findRun } from './store/content.ts'
import { conversationOf } from './store/conversations.ts'
import { saidInTrace } from './store/remarks.ts'
import { withVisibleMarks } from './visible-marks.ts'
import { all, first } from './store/page-database.ts'
import { shownScores, withheldOfTrace, withoutVerdicts } from './store/withheld.ts'

/** Maximum characters of one text on the page of a run. Copying the run as JSON includes all. */
const MAX_CHARACTERS = 20_000

interface ScoreRow {
  readonly run_id: string
  readonly evaluation: string
  readonly score_key: string
}

interface ReadParts {
  readonly database: DatabaseSync
  readonly runs: ShownRuns
}

/**
 * Everything on the page of a run; `undefined` if the run is unknown.
 *
 * @param viewer the viewer; only the scorer's name is shown of scores that this person should label
 */
export function readRun({ database, runs }: ReadParts, runId: string, viewer: string): unknown {
  const traceId = traceIdOf(runId)
  const content = runs.contentOf(runId)
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
    `SELECT r.id AS run_id, s.evaluation, s.score_key
     FROM ${shownScores()} s JOIN runs r ON r.seq = s.run_seq
     WHERE r.id IN (SELECT value FROM json_each(?)) ORDER BY s.scorer`,
    { viewer },
    JSON.stringify(idsOf(run)),
  )
  const withheld = withheldOfTrace(database, traceId, { viewer })
  const hidden = new Set(withheld.map(({ scorer }) => scorer))
  return {
    run: asShown(withoutVerdicts(JSON.parse(JSON.stringify(run)), hidden)),
    stored,
    isOpen: stored === undefined,
    conversation: stored && conversationOf(database, stored.seq),
    scores: scores.map(({ run_id: id, evaluation, score_key: scoreKey }) => ({
      runId: id,
      scoreKey,
      evaluation: asShown(JSON.parse(evaluation)),
    })),
    // What users say would tell a person who labels what to think.
    said: withheld.length > 0 ? [] : asShown(saidInTrace(database, traceId, content)),
    withheld: withheld.map(({ runId: id, scorer, version }) => ({ runId: id, scorer, version })),
    spans: asShown(withoutVerdicts(JSON.parse(JSON.stringify(content.spans.toSorted(byStart))), hidden)),
  }
}

/** The ids of a run and of those that it started. */
function idsOf({ id, children }: AgentRun): readonly string[] {
  return [id, ...children.flatMap(idsOf)]
}

function byStart(left: SourceSpan, right: SourceSpan): number {
  return left.startTimeMs - right.startTimeMs
}

/** A run with all content, as JSON. */
export function runAsJson({ database, runs }: ReadParts, runId: string, viewer: string): unknown {
  const traceId = traceIdOf(runId)
  const run = findRun(runs.contentOf(runId), runId)
  if (run === undefined) return undefined
  const hidden = withheldOfTrace(database, traceId, { viewer }).map(({ scorer }) => scorer)
  return withoutVerdicts(JSON.parse(JSON.stringify(run)), new Set(hidden))
}

/** A run as a line of a file of cases, with the scorers and users that fail it; `undefined` if it or its question is unknown. */
export function runAsCase({ database, runs }: ReadParts, runId: string, viewer: string): unknown {
  const content = runs.contentOf(runId)
  const run = findRun(content, runId)
  if (run === undefined) return undefined
  const scores = all<{ scorer: string; value: number | null; explanation: string | null }>(
    database,
    `SELECT scorer, value, json_extract(evaluation, '$.score.explanation') AS explanation FROM ${shownScores()} s
     JOIN runs r ON r.seq = s.run_seq WHERE r.id = ? AND label = 'fail' ORDER BY scorer`,
    { viewer },
    runId,
  )
  const isWithheld = withheldOfTrace(database, traceIdOf(runId), { viewer }).length > 0
  const said = isWithheld ? [] : saidInTrace(database, traceIdOf(runId), content)
  const wrong = [
    ...scores.map(({ scorer, value, explanation }) => ({
      scorer,
      label: 'fail' as const,
      ...(value !== null && { score: value }),
      ...(explanation !== null && { explanation }),
    })),
    ...said.flatMap(({ runId: id, scorerId, label, explanation }) =>
      id === runId && label === 'fail'
        ? [{ scorer: scorerId, label, ...(explanation !== undefined && { explanation }) }]
        : [],
    ),
  ]
  const found = toCase(run, run, wrong)
  return found === 'no-question' ? undefined : found
}

/** A run to score again. */
export interface RunToTry {
  readonly run: AgentRun
  /** Its stored score of this scorer is withheld, and a new one would reveal it. */
  readonly isWithheld: boolean
}

/** The runs with these ids, to score them again; unknown ones are omitted. */
export function readRunsToTry(
  { database, runs }: ReadParts,
  runIds: readonly string[],
  scorer: string,
  viewer: string,
): readonly RunToTry[] {
  return runIds.flatMap((runId) => {
    const traceId = traceIdOf(runId)
    const run = findRun(runs.contentOf(runId), runId)
    const withheld = withheldOfTrace(database, traceId, { viewer })
    const isWithheld = withheld.some((each) => each.runId === runId && each.scorer === scorer)
    return run === undefined ? [] : [{ run, isWithheld }]
  })
}

function traceIdOf(runId: string): string {
  return runId.split(':')[0] ?? ''
}

/** Values as people see them: long texts are cut, and nothing turns the text beside it. */
export function asShown(value: unknown): unknown {
  if (typeof value === 'string') {
    const text = withVisibleMarks(value)
    return text.length <= MAX_CHARACTERS
      ? text
      : `${text.slice(0, MAX_CHARACTERS).toWellFormed()}… (${text.length - MAX_CHARACTERS} more characters: copy the run as JSON)`
  }
  if (Array.isArray(value)) return value.map(asShown)
  if (typeof value !== 'object' || value === null) return value
  const entries: readonly [string, unknown][] = Object.entries(value)
  return Object.fromEntries(entries.map(([key, child]) => [withVisibleMarks(key), asShown(child)]))
}
