import type { SourceLog, SourceSpan } from 'spanscore/engine'

import type { DecodedRecord } from '../src/log/span-log.ts'
import { bareSpan } from '../src/traces/span-content.ts'
import type { HeldBytes } from '../src/traces/span-content.ts'
import { logFactsOf, spanFactsOf } from '../src/traces/span-facts.ts'
import type { SettledSpans } from '../src/traces/trace-buffer.ts'

/** A record with these spans and log records. Its body is their JSON. */
export function toRecord(spans: readonly SourceSpan[], logs: readonly SourceLog[] = []): DecodedRecord {
  const texts = [...spans, ...logs].map((each) => JSON.stringify(each))
  let end = 0
  const places = texts.flatMap((text) => [end, (end += Buffer.byteLength(text))])
  const bytes = { body: { bytes: Buffer.from(texts.join('')), holders: 0 }, places }
  return { spans: spans.map(spanFactsOf), logs: logs.map(logFactsOf), bytes }
}

/** The settled runs that are still in memory. */
export function sourcesOf({ traceId, spans }: SettledSpans): {
  readonly spans: readonly SourceSpan[]
  readonly logs: readonly SourceLog[]
} {
  return {
    spans: spans.flatMap((span) => (span.isRecognised ? read<SourceSpan>(span) : bareSpan(traceId, span))),
    logs: spans.flatMap(({ logs }) => logs?.flatMap((log) => read<SourceLog>(log)) ?? []),
  }
}

function read<T>({ body, start, end }: HeldBytes): T[] {
  return body === undefined ? [] : [JSON.parse(Buffer.from(body.bytes).subarray(start, end).toString()) as T]
}
