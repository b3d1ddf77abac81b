import { buildRunsOfNodes } from 'spanscore/engine'
import type { AgentRun, RecordedSpan, SourceLog, SourceSpan } from 'spanscore/engine'

import type { RecordContents } from '../log/record-contents.ts'
import type { RequestReader } from '../receive/read-request.ts'
import type { HeldLog, HeldSpan } from '../traces/held-span.ts'
import type { SettledSpans } from '../traces/held-traces.ts'
import type { Breather } from '../breather.ts'

/** Reads settled spans, and reconstructs their runs. */
export class SettledRuns {
  readonly #reader: RequestReader
  readonly #contents: RecordContents

  constructor(reader: RequestReader, contents: RecordContents) {
    this.#reader = reader
    this.#contents = contents
  }

  async of({ spans, lacksSpans }: SettledSpans, breather: Breather): Promise<readonly AgentRun[]> {
    const recorded: RecordedSpan[] = []
    for (const span of spans) {
      if (!span.isRecognised) continue
      if (breather.isOver) await breather.next()
      const source = this.#sourceOf(span)
      if (source !== undefined) recorded.push({ node: span, dialect: span.dialect, source, logs: this.#logsOf(span) })
    }
    // Content was deleted while it waited: what is left is no whole run.
    if (spans.some(({ isOver }) => isOver)) return []
    const steps = buildRunsOfNodes(spans, recorded, { lacksSpans })
    for (;;) {
      if (!breather.hasRoomFor(spans.length)) await breather.next()
      const step = steps.next()
      if (step.done === true) return step.value
    }
  }

  /** Reads the log again if a span is not in memory. */
  #sourceOf(span: HeldSpan): SourceSpan | undefined {
    const body = span.body ?? this.#contents.of(span.offset)
    if (body === undefined) return undefined
    const { traceId, spanId, parentId, resource, scope } = span
    const parentSpanId = parentId === '' ? undefined : parentId
    return this.#reader.span(body, span, { resource, scope, ids: { traceId, spanId, parentSpanId } })
  }

  #logsOf({ usedLogs }: HeldSpan): readonly SourceLog[] {
    return usedLogs.flatMap((log) => this.#logOf(log) ?? [])
  }

  #logOf(log: HeldLog): SourceLog | undefined {
    const body = log.body ?? this.#contents.of(log.offset)
    return body === undefined ? undefined : this.#reader.log(body, log)
  }
}
