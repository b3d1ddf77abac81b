import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliDecompressSync } from 'node:zlib'

import { ROOT_CONTEXT, trace } from '@opentelemetry/api'
import type { Attributes, Context, Span, Tracer } from '@opentelemetry/api'

import { readOtlpJson } from '../src/otlp/json.ts'
import type { SourceSpan } from '../src/spans/source-span.ts'

const recordings = join(import.meta.dirname, '../test/corpus/recordings')

/** What one recorded run does to a tracer, start by start and end by end. */
export type Replay = (tracerOf: (scope: string) => Tracer) => void

/** A scenario of the corpus: spans as a real library wrote them. */
export function loadRecording(library: string, scenario: string): readonly SourceSpan[] {
  const text = brotliDecompressSync(readFileSync(join(recordings, `${library}.json.br`))).toString()
  const { scenarios } = JSON.parse(text) as { scenarios: readonly { id: string; traces: unknown }[] }
  const found = scenarios.find(({ id }) => id === scenario)
  const spans = found && readOtlpJson(found.traces)?.spans
  if (spans === undefined) throw new Error(`expected a scenario ${scenario} in ${library}, got none`)
  return spans
}

/** Bytes of the text that the attributes hold. */
export function contentBytes(spans: readonly SourceSpan[]): number {
  return Buffer.byteLength(JSON.stringify(spans.map(({ attributes }) => Object.values(attributes))))
}

/**
 * Plays spans again as the library did: each starts below its parent with the attributes that are known at the start (names and
 * ids), gets its content while it is open, and ends in the recorded order. Starts lie as far apart as they did: the SDK counts
 * them in milliseconds, and in a tight loop the order of a run's model calls would be chance.
 */
export function replay(spans: readonly SourceSpan[]): Replay {
  const children = new Map<string | undefined, SourceSpan[]>()
  const ids = new Set(spans.map(({ spanId }) => spanId))
  for (const span of spans) {
    const parent = ids.has(span.parentSpanId ?? '') ? span.parentSpanId : undefined
    children.set(parent, [...(children.get(parent) ?? []), span])
  }
  const plans = new Map(spans.map((span) => [span.spanId, toPlan(span)]))
  const lastMs = Math.max(...spans.map(({ endTimeMs }) => endTimeMs))
  return (tracerOf) => {
    const laterMs = Math.floor(Date.now() - lastMs)
    const play = (source: SourceSpan, parent: Context): void => {
      const { atStart, later } = plans.get(source.spanId) ?? { atStart: {}, later: {} }
      const startTime = source.startTimeMs + laterMs
      const span: Span = tracerOf(source.scope.name).startSpan(source.name, { attributes: atStart, startTime }, parent)
      const below = trace.setSpan(parent, span)
      for (const child of children.get(source.spanId) ?? []) play(child, below)
      span.setAttributes(later)
      span.end()
    }
    for (const root of children.get(undefined) ?? []) play(root, ROOT_CONTEXT)
  }
}

function toPlan({ attributes }: SourceSpan): { atStart: Attributes; later: Attributes } {
  const atStart: Attributes = {}
  const later: Attributes = {}
  for (const [key, value] of Object.entries(attributes)) {
    const isContent = /messages|instructions|arguments|result|usage|response|output/.test(key)
    Object.assign(isContent ? later : atStart, { [key]: value })
  }
  return { atStart, later }
}
