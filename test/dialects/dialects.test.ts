import { describe, expect, it } from 'vitest'
import type { Dialect } from '../../src/spans/dialect.ts'
import { koog } from '../../src/spans/dialects/koog.ts'
import { openInferenceClaudeAgentSdk } from '../../src/spans/dialects/openinference/claude-agent-sdk.ts'
import { SpanFacts } from '../../src/spans/facts.ts'
import { roleOf } from '../../src/spans/recognise.ts'
import { factsOf, ownSpans } from './own-spans.ts'

/**
 * Dialects of libraries that could not be recorded here: Koog is written in Kotlin, and the Claude Agent SDK runs a program that calls its
 * own service alone.
 */
const NOT_RECORDED: ReadonlySet<Dialect> = new Set([koog, openInferenceClaudeAgentSdk])

const recorded = ownSpans()

it('has recordings of all dialects but those whose libraries could not be run', () => {
  const missing = [...recorded].filter(([, spans]) => spans.length === 0)
  expect(new Set(missing.map(([dialect]) => dialect))).toEqual(NOT_RECORDED)
})

describe.each([...recorded].map(([dialect, spans]) => [dialect.name, dialect, spans] as const))(
  'the dialect %s',
  (_, dialect, own) => {
    it('declares every key and name by which it recognises spans of an unknown scope', () => {
      const keys = keysRead(dialect)
      const undeclared = keys.filter((key) => dialect.namespaces?.some((start) => key.startsWith(start)) !== true)
      expect(undeclared).toEqual([])
    })

    it('treats spans without attributes as what they may still become', () => {
      for (const span of own) {
        const begun = { ...span, attributes: {}, events: [] }
        expect(() => roleOf(dialect, begun)).not.toThrow()
        factsOf(new SpanFacts(begun, dialect, roleOf(dialect, begun)))
      }
    })

    it('changes nothing that it reads, and reads the same twice', () => {
      for (const span of own) {
        const frozen = deepFreeze(structuredClone(span))
        const role = roleOf(dialect, frozen)
        expect(roleOf(dialect, frozen)).toBe(role)
        const first = JSON.stringify(factsOf(new SpanFacts(frozen, dialect, role)))
        expect(JSON.stringify(factsOf(new SpanFacts(frozen, dialect, role)))).toBe(first)
      }
    })
  },
)

/** The keys that `recognises` reads on a span of an unknown scope. */
function keysRead(dialect: Dialect): readonly string[] {
  const keys = new Set<string>()
  const attributes = new Proxy<Record<string, unknown>>({}, { get: (_, key) => void keys.add(String(key)) })
  dialect.recognises('my-app', attributes, 'some-span')
  return [...keys]
}

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null) {
    for (const inner of Object.values(value)) deepFreeze(inner)
    Object.freeze(value)
  }
  return value
}
