import type { SourceLog, SourceSpan } from 'spanscore/engine'
import { buildRunsOfNodes } from 'spanscore/engine'
import type { AgentRun } from 'spanscore/engine'

import type { DecodedRecord } from '../src/log/span-log.ts'
import { HeldSpan, logFactsOf } from '../src/traces/held-span.ts'
import type { HeldBytes } from '../src/traces/held-contents.ts'
import type { SettledSpans } from '../src/traces/held-traces.ts'

/** A record with these spans and log records. Its body is their JSON. */
export function toRecord(spans: readonly SourceSpan[], logs: readonly SourceLog[] = []): DecodedRecord {
  const texts = [...spans, ...logs].map((each) => JSON.stringify(each))
  let end = 0
  const places = texts.flatMap((text) => [end, (end += Buffer.byteLength(text))])
  const bytes = { body: { bytes: Buffer.from(texts.join('')), holders: 0 }, places }
  return { spans: spans.map((span) => new HeldSpan(span)), logs: logs.map(logFactsOf), bytes }
}

/** The runs in settled spans that are still in memory. */
export function runsOf({ spans, lacksSpans }: SettledSpans): readonly AgentRun[] {
  const recorded = spans.flatMap((node) => {
    if (!node.isRecognised) return []
    const logs = node.held?.flatMap((log) => read<SourceLog>(log)) ?? []
    return read<SourceSpan>(node).map((source) => ({ node, dialect: node.dialect, source, logs }))
  })
  const steps = buildRunsOfNodes(spans, recorded, { lacksSpans })
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
  }
}

function read<T>({ body, start, end }: HeldBytes): T[] {
  return body === undefined ? [] : [JSON.parse(Buffer.from(body.bytes.subarray(start, end)).toString()) as T]
}
