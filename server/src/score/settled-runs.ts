import { buildRunsInSteps } from 'spanscore/engine'
import type { AgentRun, SourceLog, SourceSpan } from 'spanscore/engine'

import type { RecordContents } from '../log/record-contents.ts'
import type { RequestReader } from '../receive/read-request.ts'
import type { HeldLog, HeldSpan } from '../traces/held-span.ts'
import { bareSpan } from '../traces/span-content.ts'
import type { SettledSpans } from '../traces/trace-buffer.ts'
import type { Turn } from '../turn.ts'

/** Reads settled spans, and reconstructs their runs. */
export class SettledRuns {
  readonly #reader: RequestReader
  readonly #contents: RecordContents

  constructor(reader: RequestReader, contents: RecordContents) {
    this.#reader = reader
    this.#contents = contents
  }

  async of(settled: SettledSpans, turn: Turn): Promise<readonly AgentRun[]> {
    const { traceId, lacksSpans } = settled
    const sources: SourceSpan[] = []
    const logs: SourceLog[] = []
    for (const span of settled.spans) {
      if (turn.isOver) await turn.next()
      const source = this.#sourceOf(traceId, span)
      if (source !== undefined) sources.push(source)
      for (const each of span.logs ?? []) {
        const log = this.#logOf(each)
        if (log !== undefined) logs.push(log)
      }
    }
    // Content was deleted while it waited: what is left is no whole run.
    if (settled.units.some(({ state }) => state === 'finished')) return []
    const steps = buildRunsInSteps(sources, { logs, lacksSpans })
    for (;;) {
      if (!turn.hasRoomFor(sources.length)) await turn.next()
      const step = steps.next()
      if (step.done === true) return step.value
    }
  }

  /** Reads the log again if a span is not in memory. */
  #sourceOf(traceId: string, span: HeldSpan): SourceSpan | undefined {
    if (!span.isRecognised) return bareSpan(traceId, span)
    const body = span.body ?? this.#contents.of(span.offset)
    if (body === undefined) return undefined
    const { spanId, parentSpanId, resource, scope } = span
    return this.#reader.span(body, span, { resource, scope, ids: { traceId, spanId, parentSpanId } })
  }

  #logOf(log: HeldLog): SourceLog | undefined {
    const body = log.body ?? this.#contents.of(log.offset)
    return body === undefined ? undefined : this.#reader.log(body, log)
  }
}
