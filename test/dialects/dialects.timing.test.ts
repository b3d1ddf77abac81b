import { describe, expect, it } from 'vitest'
import type { Dialect } from '../../src/spans/dialect.ts'
import { SpanFacts } from '../../src/spans/facts.ts'
import { roleOf } from '../../src/spans/recognise.ts'
import type { SourceSpan } from '../../src/spans/source-span.ts'
import { factsOf, ownSpans } from './own-spans.ts'

/** Pieces that hostile text repeats: each of them makes some regular expression slow. */
const HOSTILE: readonly string[] = [
  '\n',
  ' ',
  '{"',
  '[',
  '\\"',
  'a',
  '"',
  "'",
  'Error: ',
  '\n    at ',
  'user: \n',
  '0',
  '(',
]

describe.each([...ownSpans()].map(([dialect, spans]) => [dialect.name, dialect, oneOfEachKind(spans)] as const))(
  'the dialect %s',
  (_, dialect, spans) => {
    it.each(HOSTILE)('reads a hundred thousand characters of %j in a time that grows with the length', (piece) => {
      const text = piece.repeat(Math.ceil(100_000 / piece.length))
      for (const span of spans) {
        const before = process.threadCpuUsage()
        read(dialect, span, text)
        const { user, system } = process.threadCpuUsage(before)
        // Quadratic patterns take minutes at this length.
        expect((user + system) / 1000).toBeLessThan(10_000)
      }
    })
  },
)

/** Reads all facts of a span whose texts end in another one. */
function read(dialect: Dialect, span: SourceSpan, text: string): void {
  const attributes = Object.fromEntries(
    Object.entries(span.attributes).map(([key, value]) => {
      const isText = typeof value === 'string' && value.length > 20
      return [key, isText ? value.slice(0, 10) + text : value]
    }),
  )
  const status = { code: 'error', message: text } as const
  const hostile = { ...span, name: `${span.name} ${text}`, attributes, status }
  factsOf(new SpanFacts(hostile, dialect, roleOf(dialect, span)))
  roleOf(dialect, hostile)
}

/** One span of each name and role: hostile values on all of them would take minutes. */
function oneOfEachKind(spans: readonly SourceSpan[]): readonly SourceSpan[] {
  const kinds = new Map(
    spans.map((span) => [`${span.name.split(' ', 1)[0]} ${Object.keys(span.attributes).length}`, span]),
  )
  return [...kinds.values()].slice(0, 12)
}
