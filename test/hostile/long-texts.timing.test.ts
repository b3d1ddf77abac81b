import { describe, expect, test } from 'vitest'

import { buildRuns } from '../../src/runs/build-runs.ts'
import { recognise } from '../../src/spans/recognise.ts'
import type { SourceEvent, SourceSpan } from '../../src/spans/source-span.ts'
import { libraryNames, loadLibrary, readScenario } from '../corpus/load.ts'

/** Repeated, these make a search that begins again at every character quadratic. */
const PIECES = ['\n', ' ', 'a', '.', '"', '\\', 'Error: ', 'You are an agent. Your internal name is "', '{"a":', '<a ']

/** Lengths at which time is measured. At the last one, a quadratic search takes a large part of a second. */
const LENGTHS = [2500, 20_000]

/** Milliseconds of processor time that say nothing about how time grows. */
const MOMENT_MS = 40

/** A recorded span for each dialect, role and scope. */
const recorded = new Map<string, SourceSpan>()
for (const library of libraryNames()) {
  for (const { spans } of loadLibrary(library).map(readScenario)) {
    for (const span of spans) {
      const dialect = recognise(span.scope.name, span.attributes, span.name)
      if (dialect === undefined) continue
      const key = [dialect.name, dialect.roleOf(span), span.scope.name].join(' ')
      const known = recorded.get(key)
      if (known === undefined || sizeOf(span) > sizeOf(known)) recorded.set(key, span)
    }
  }
}

function sizeOf({ attributes, events }: SourceSpan): number {
  return Object.keys(attributes).length + events.length
}

type Spoil = (value: string, text: string) => string

/** How a text gets into a value. */
const spoilers: Readonly<Record<string, Spoil>> = {
  'instead of content': (_value, text) => text,
  'after content': (value, text) => value + text,
  'within JSON': (value, text) => inJson(value, text),
}

/** Whether a value may be anything that somebody wrote. Names and types that the library writes are words. */
function isText(value: unknown): value is string {
  return typeof value === 'string' && /[\s{[]/.test(value)
}

/** Only the first text of a document, because one with many long texts would not be read at all. */
function inJson(json: string, text: string): string {
  let isDone = false
  try {
    return JSON.stringify(JSON.parse(json), (_key, value: unknown) => {
      if (isDone || typeof value !== 'string' || !value.includes(' ')) return value
      isDone = true
      return value + text
    })
  } catch {
    return json
  }
}

function spoilt(span: SourceSpan, text: string, spoil: Spoil): SourceSpan {
  const { traceId, spanId, startTimeMs, endTimeMs, kind, scope, resource, droppedAttributesCount } = span
  const change = (attributes: SourceSpan['attributes']): Record<string, unknown> =>
    Object.fromEntries(
      Object.entries(attributes).map(([key, value]) => [key, isText(value) ? spoil(value, text) : value]),
    )
  const exception: SourceEvent = { name: 'exception', timeMs: endTimeMs, attributes: { 'exception.message': text } }
  return {
    traceId,
    spanId,
    startTimeMs,
    endTimeMs,
    kind,
    scope,
    resource,
    droppedAttributesCount,
    name: span.name + text,
    status: { code: 'error', message: text },
    attributes: change(span.attributes),
    events: [...span.events.map((event) => ({ ...event, attributes: change(event.attributes) })), exception],
  }
}

/** Reads everything that a run says, and everything that dialects read of its span. */
function readAll(span: SourceSpan): void {
  JSON.stringify(buildRuns([span]))
  const dialect = recognise(span.scope.name, span.attributes, span.name)
  for (const reader of Object.values(dialect ?? {})) {
    if (typeof reader !== 'function' || reader === dialect?.recognises) continue
    try {
      reader.call(dialect, span, [])
    } catch {
      // What a dialect cannot read is missing.
    }
  }
}

function cpuMs(run: () => void): number {
  const before = process.threadCpuUsage()
  run()
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / 1000
}

describe.each(Object.keys(spoilers))('a long text %s', (how) => {
  test.each(PIECES)('of nothing but %j is read in a time that grows with its length alone', (piece) => {
    for (const [name, span] of recorded) {
      const msOf = (length: number, times = 1): number => {
        const changed = spoilt(span, piece.repeat(length / piece.length), spoilers[how]!)
        return cpuMs(() => {
          for (let time = 0; time < times; time++) readAll(changed)
        })
      }
      const leastMs = (length: number, times?: number): number =>
        Math.min(msOf(length, times), msOf(length, times), msOf(length, times))
      // Only what takes long is measured again, because other work may fall into one measurement.
      const length = LENGTHS.find((each) => msOf(each) > MOMENT_MS)
      if (length === undefined || leastMs(length) < MOMENT_MS) continue
      // A quadratic search takes eight times as long for a text as for eight texts of an eighth. The clock of one of them is too coarse.
      const isLinear = leastMs(length) < 3 * leastMs(length / 8, 8)
      expect([name, isLinear]).toEqual([name, true])
    }
  })
})

test('the recorded spans are of all kinds', () => {
  expect(recorded.size).toBeGreaterThan(100)
})
