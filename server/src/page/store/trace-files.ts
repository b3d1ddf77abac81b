import type { DatabaseSync } from 'node:sqlite'

import { scoresAsOtlp, toAnyValue, toNanoseconds, toOtlpAttributes } from 'spanscore/engine'
import type { Evaluation, SourceLog, SourceSpan } from 'spanscore/engine'

import { readContentRow } from './content.ts'
import { all } from './page-database.ts'
import { readSaid } from './remarks.ts'
import { shownScores } from './withheld.ts'
import type { Viewer } from './page-database.ts'

/** Traces per look-up. */
const PAGE = 100

interface ScoredRow {
  readonly seq: number
  readonly trace_id: string
  readonly span_id: string
  readonly end_ms: number
  readonly evaluation: string
  readonly content_ids: string
}

/**
 * The runs of a scorer in the format of `spanscore calibrate`: the spans of their traces and the score events, as OTLP/JSON, one request
 * per line. Together with the labels they are everything that calibration needs.
 */
export function* exportScoredRuns(
  database: DatabaseSync,
  scorer: string,
  { viewer }: Viewer,
  nowMs: number,
): Generator<string> {
  const written = new Set<number>()
  const tracesOfSaid = new Set<string>()
  for (let after = 0; ;) {
    const rows = all<ScoredRow>(
      database,
      `SELECT r.seq, r.trace_id, r.span_id, r.end_ms, r.content_ids, s.evaluation FROM ${shownScores()} s CROSS JOIN runs r ON r.seq = s.run_seq
       WHERE s.scorer = ? AND s.label IS NOT NULL AND s.run_seq > ? ORDER BY s.run_seq LIMIT ${PAGE}`,
      { viewer },
      scorer,
      after,
    )
    for (const { trace_id: traceId, span_id: spanId, end_ms: endTimeMs, evaluation, content_ids: ids } of rows) {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by `saveRun`
      for (const id of JSON.parse(ids) as number[]) {
        if (written.has(id)) continue
        written.add(id)
        const { spans, logs } = readContentRow(database, id)
        yield `${JSON.stringify({ resourceSpans: spans.map(toResourceSpans), resourceLogs: logs.map(toResourceLogs) })}\n`
      }
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written from an Evaluation
      const score = JSON.parse(evaluation) as Evaluation
      const place = { traceId, spanId, endTimeMs, resource: {} }
      const request = scoresAsOtlp(place, [score], { explanations: 'all', nowMs })
      if (request !== undefined) yield `${JSON.stringify(request)}\n`
      if (tracesOfSaid.has(traceId)) continue
      tracesOfSaid.add(traceId)
      const said = readSaid(database, traceId)
      if (said.length > 0) yield `${JSON.stringify({ resourceLogs: said.map(toResourceLogs) })}\n`
    }
    const last = rows.at(-1)
    if (last === undefined) return
    after = last.seq
  }
}

const STATUS_CODES = { unset: 0, ok: 1, error: 2 }

/** Bits 8 and 9 of a span's flags: its parent is known to be remote. */
const REMOTE_PARENT = 0x300

function toResourceSpans(span: SourceSpan): unknown {
  return {
    resource: { attributes: toOtlpAttributes(span.resource) },
    scopeSpans: [
      {
        scope: span.scope,
        spans: [
          {
            traceId: span.traceId,
            spanId: span.spanId,
            parentSpanId: span.parentSpanId,
            flags: span.parentIsRemote === true ? REMOTE_PARENT : 0,
            name: span.name,
            kind: span.kind,
            startTimeUnixNano: toNanoseconds(span.startTimeMs),
            endTimeUnixNano: toNanoseconds(span.endTimeMs),
            attributes: toOtlpAttributes(span.attributes),
            events: span.events.map(({ name, timeMs, attributes }) => ({
              name,
              timeUnixNano: toNanoseconds(timeMs),
              attributes: toOtlpAttributes(attributes),
            })),
            status: { code: STATUS_CODES[span.status.code], message: span.status.message },
            droppedAttributesCount: span.droppedAttributesCount,
          },
        ],
      },
    ],
  }
}

function toResourceLogs({ traceId, spanId, eventName, timeMs, attributes, body, scope }: SourceLog): unknown {
  const logRecord = {
    traceId,
    spanId,
    eventName,
    timeUnixNano: toNanoseconds(timeMs),
    attributes: toOtlpAttributes(attributes),
    body: toAnyValue(body),
  }
  return { scopeLogs: [{ scope, logRecords: [logRecord] }] }
}
