import type { DatabaseSync } from 'node:sqlite'

import { isEvaluation, MAX_NAME_LENGTH, nameOfSaid, replacesSaid, shortened, toStoredRuns } from 'spanscore/engine'
import type { AgentRun, SourceLog, StoredScore } from 'spanscore/engine'

import type { RunContent } from './content.ts'
import { all, run as execute } from './page-database.ts'

/** What a user or another tool says of a run, or of a tool call. */
export interface Remark extends Omit<StoredScore, 'about' | 'isForeign'> {
  readonly runId: string
  /** The index of the tool call, if it is said of its span. */
  readonly toolCall?: number
}

/** Characters that are kept of a value, such as a comment, and of all of an event. */
const MAX_VALUE = 4096
const MAX_EVENT = 16_384

/** The key of an event that came to `POST /v1/feedback`. */
const KEY = 'spanscore.score.key'

/**
 * What the page keeps of an event of some sender: a bounded number of characters, and not the key, so that nobody replaces what came to
 * `POST /v1/feedback`, whose key anybody can compute.
 */
export function boundedRemark({ eventName, traceId, spanId, timeMs, attributes, scope }: SourceLog): SourceLog {
  const kept: Record<string, unknown> = {}
  let left = MAX_EVENT
  for (const [name, given] of Object.entries(attributes)) {
    if (name === KEY || name === '__proto__' || (typeof given === 'object' && given !== null)) continue
    const value = typeof given === 'string' ? shortened(given, MAX_VALUE) : given
    const characters = name.length + (typeof value === 'string' ? value.length : 8)
    if (characters > left) continue
    left -= characters
    kept[name] = value
  }
  const { name } = scope
  return {
    ...(eventName !== undefined && { eventName: shortened(eventName, MAX_NAME_LENGTH) }),
    traceId,
    spanId,
    timeMs,
    attributes: kept,
    scope: { name: shortened(name, MAX_NAME_LENGTH) },
  }
}

/** Keeps an event. What one user says again by the same name replaces what was said before, in whatever order both come. */
export function saveSaid(database: DatabaseSync, log: SourceLog, arrivedMs: number): void {
  const { traceId, spanId, timeMs, attributes } = log
  const key = nameOfSaid(attributes)
  const ofKey = 'SELECT time_ms AS timeMs FROM said WHERE trace_id = ? AND span_id = ? AND key = ?'
  const [known] = all<{ timeMs: number }>(database, ofKey, traceId, spanId, key)
  if (known !== undefined && !replacesSaid(known, log)) return
  const json = JSON.stringify(log)
  execute(
    database,
    'INSERT OR REPLACE INTO said (trace_id, span_id, key, time_ms, arrived_ms, bytes, opinion, has_comment, log) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)',
    traceId,
    spanId,
    key,
    timeMs,
    arrivedMs,
    key.length + json.length,
    opinionOf(attributes),
    Number(typeof attributes['gen_ai.evaluation.explanation'] === 'string'),
    json,
  )
}

/** What a user thinks of a run, by an event; `''` of other tools and people. */
function opinionOf(attributes: SourceLog['attributes']): 'disliked' | 'liked' | 'rated' | '' {
  if (attributes['gen_ai.evaluation.evaluator.type'] !== 'user') return ''
  const label = attributes['gen_ai.evaluation.score.label']
  if (label === 'fail') return 'disliked'
  if (label === 'pass') return 'liked'
  const value = attributes['gen_ai.evaluation.score.value']
  const isOfStars = /star/i.test(String(attributes['gen_ai.evaluation.name']))
  if (typeof value !== 'number') return 'rated'
  if (isOfStars) return value <= 2 ? 'disliked' : value >= 4 ? 'liked' : 'rated'
  return value < 0 ? 'disliked' : 'rated'
}

/**
 * Deletes the events that came before a time, and the oldest of too many bytes.
 *
 * @returns how many were deleted
 */
export function forgetSaid(database: DatabaseSync, beforeMs: number, maxBytes: number, chunk: number): number {
  const aged = execute(database, 'DELETE FROM said WHERE arrived_ms < ?', beforeMs)
  if (saidBytes(database) <= maxBytes) return aged
  const isOldest = `(trace_id, span_id, key) IN (SELECT trace_id, span_id, key FROM said ORDER BY arrived_ms LIMIT ?)`
  return aged + execute(database, `DELETE FROM said WHERE ${isOldest}`, chunk)
}

/** Bytes of all events. */
export function saidBytes(database: DatabaseSync): number {
  return all<{ bytes: number | null }>(database, 'SELECT sum(bytes) AS bytes FROM said')[0]?.bytes ?? 0
}

/** The events of a trace. */
export function readSaid(database: DatabaseSync, traceId: string): readonly SourceLog[] {
  const rows = all<{ log: string }>(database, 'SELECT log FROM said WHERE trace_id = ? ORDER BY time_ms', traceId)
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by `saveSaid`
  return rows.map(({ log }) => JSON.parse(log) as SourceLog)
}

/** What users and other tools say of the runs in some content: as events, on spans of evaluators, or as annotations. */
export function saidInTrace(database: DatabaseSync, traceId: string, { spans, logs }: RunContent): readonly Remark[] {
  const kept = readSaid(database, traceId)
  // The page gets events of senders apart, and keeps them in their bounded form.
  const others = kept.length === 0 ? logs : logs.filter(({ eventName }) => !isEvaluation(eventName))
  const stored = toStoredRuns(spans, [...others, ...kept])
  return stored.flatMap(({ run, scoresOf, toolScoresOf }) =>
    withNested(run).flatMap((one) =>
      [...scoresOf(one), ...toolScoresOf(one)]
        .filter(({ isForeign }) => isForeign === true)
        .map(({ about: _about, isForeign: _isForeign, ...said }) => ({ runId: one.id, ...said })),
    ),
  )
}

function withNested(run: AgentRun): readonly AgentRun[] {
  return [run, ...run.children.flatMap(withNested)]
}
