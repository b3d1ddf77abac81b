import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { agent, chat, tool } from '../../test/fixtures/gen-ai-spans.ts'
import { sourceSpan } from '../../test/fixtures/source-span.ts'
import { libraryNames, loadLibrary, readScenario } from '../../test/corpus/load.ts'
import type { SourceLog, SourceSpan } from '../spans/source-span.ts'
import type { AgentRun } from '../model/agent-run.ts'
import { buildRuns } from './build-runs.ts'

const recorded = libraryNames().flatMap((name) => loadLibrary(name).map(readScenario))
const anyRecording = fc.constantFrom(...recorded)

function textOf(spans: readonly SourceSpan[], logs: readonly SourceLog[] = []): string {
  return JSON.stringify(buildRuns(spans, { logs }))
}

const plain = (spanId: string, fields: Partial<SourceSpan> = {}): SourceSpan => sourceSpan({ spanId, ...fields })

describe('the same spans give the same runs', () => {
  it('in any order', () => {
    fc.assert(
      fc.property(
        anyRecording.chain(({ spans, logs }) =>
          fc.record({
            before: fc.constant(textOf(spans, logs)),
            spans: fc.shuffledSubarray([...spans], { minLength: spans.length }),
            logs: fc.constant(logs),
          }),
        ),
        ({ before, spans, logs }) => {
          expect(textOf(spans, logs)).toBe(before)
        },
      ),
      { numRuns: 150 },
    )
  })

  it('if spans between them come before their own parents', () => {
    const spans = [
      agent('a'),
      plain('p', { parentSpanId: 'a' }),
      plain('o', { parentSpanId: 'p' }),
      chat('c', { parentSpanId: 'o' }),
    ]
    const before = textOf(spans)
    expect(buildRuns(spans)[0]?.steps).toHaveLength(1)
    fc.assert(
      fc.property(fc.shuffledSubarray(spans, { minLength: spans.length }), (shuffled) => {
        expect(textOf(shuffled)).toBe(before)
      }),
    )
  })

  it('when some come twice', () => {
    fc.assert(
      fc.property(
        anyRecording.chain(({ spans, logs }) =>
          fc.record({ spans: fc.constant(spans), logs: fc.constant(logs), again: fc.subarray([...spans]) }),
        ),
        ({ spans, logs, again }) => {
          expect(textOf([...again, ...spans], logs)).toBe(textOf(spans, logs))
        },
      ),
      { numRuns: 200 },
    )
  })

  it('when other traces are between them', () => {
    fc.assert(
      fc.property(fc.array(anyRecording, { minLength: 2, maxLength: 4 }), fc.integer(), (recordings, seed) => {
        const apart = [...new Set(recordings)].filter(({ spans }) =>
          spans.every((item) => item.parentSpanId !== undefined || hasOwnRoot(spans)),
        )
        const alone = apart.flatMap(({ spans, logs }) => buildRuns(spans, { logs }).map((run) => JSON.stringify(run)))
        const mixed = apart
          .flatMap(({ spans }) => spans)
          .toSorted((left, right) => hash(left.spanId, seed) - hash(right.spanId, seed))
        const logs = apart.flatMap((recording) => recording.logs)
        const together = buildRuns(mixed, { logs }).map((run) => JSON.stringify(run))
        expect(together.toSorted()).toEqual(alone.toSorted())
      }),
      { numRuns: 100 },
    )
  })
})

describe('hostile spans', () => {
  const attributeValue = fc.oneof(
    fc.string(),
    fc.json(),
    fc.anything({ withBigInt: false }),
    anyRecording.chain(({ spans }) => {
      const texts = spans.flatMap((item) => Object.values(item.attributes)).filter((value) => typeof value === 'string')
      return fc.tuple(fc.constantFrom('', ...texts), fc.nat(2000)).map(([text, length]) => text.slice(0, length))
    }),
  )
  const keys = [...new Set(recorded.flatMap(({ spans }) => spans.flatMap((item) => Object.keys(item.attributes))))]

  it('never make it throw, whatever their attributes hold', () => {
    fc.assert(
      fc.property(
        anyRecording,
        fc.array(fc.tuple(fc.nat(), fc.constantFrom(...keys, '__proto__', 'constructor', 'toString'), attributeValue), {
          maxLength: 12,
        }),
        ({ spans, logs }, changes) => {
          const changed = spans.map((item) => ({
            ...item,
            attributes: { ...item.attributes } as Record<string, unknown>,
          }))
          for (const [index, key, value] of changes) {
            const target = changed[index % Math.max(1, changed.length)]
            if (target === undefined) continue
            Object.defineProperty(target.attributes, key, {
              value,
              enumerable: true,
              configurable: true,
              writable: true,
            })
          }
          expect(() => textOf(changed, logs)).not.toThrow()
        },
      ),
      { numRuns: 300 },
    )
  })

  it('never make it throw, whatever their parents are', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(3), fc.nat(15), fc.nat(15), fc.nat(3)), { maxLength: 16 }), (shape) => {
        const makers = [agent, chat, tool, plain]
        const spans = shape.map(([kind, id, parent, start]) =>
          (makers[kind] ?? plain)(`s${id}`, { parentSpanId: `s${parent}`, startTimeMs: start }),
        )
        expect(() => textOf(spans)).not.toThrow()
      }),
    )
  })

  it('leave the prototype of objects alone', () => {
    const polluting =
      '[{"role":"user","__proto__":{"polluted":1},"parts":[{"type":"text","content":"hi","constructor":{"prototype":{"polluted":1}}}]}]'
    const [run] = buildRuns([
      agent('a', {
        attributes: {
          'gen_ai.operation.name': 'invoke_agent',
          'gen_ai.input.messages': polluting,
          'gen_ai.prompt.0.__proto__': 'polluted',
          'gen_ai.prompt.0.tool_calls.0.__proto__': 'polluted',
        },
      }),
    ])
    expect(run?.userInput).toBe('hi')
    expect(({} as Record<string, unknown>).polluted).toBeUndefined()
  })

  it('prints a run whose arguments are nested as deep as a value may be', () => {
    for (const depth of [900, 1900, 2100, 10_000, 100_000]) {
      const attributes = {
        'gen_ai.operation.name': 'execute_tool',
        'gen_ai.tool.name': 'deep',
        'gen_ai.tool.call.arguments': '['.repeat(depth) + ']'.repeat(depth),
      }
      const runs = buildRuns([agent('a'), tool('t', { parentSpanId: 'a', attributes })])
      expect(() => JSON.stringify(runs)).not.toThrow()
    }
  })

  it('cut cycles of parents', () => {
    const runs = buildRuns([
      agent('a', { parentSpanId: 'b' }),
      chat('b', { parentSpanId: 'c' }),
      tool('c', { parentSpanId: 'a' }),
    ])
    expect(runs).toHaveLength(1)
    expect(() => JSON.stringify(runs)).not.toThrow()
  })
})

describe('attributes that were cut at a length', () => {
  it('are not text of the run if they are half a record of messages', () => {
    const halves: string[] = []
    for (const { spans, logs } of recorded) {
      const cut = spans.map((item) => ({ ...item, attributes: cutStrings(item.attributes) }))
      for (const run of allRuns(buildRuns(cut, { logs }))) {
        for (const words of [run.userInput, run.systemInstructions, run.output]) {
          if (words !== undefined && /^\s*\[?\{"(role|messages|model|message|type)"/.test(words)) halves.push(words)
        }
      }
    }
    expect(halves).toEqual([])
  })

  it('are reported as cut, with the setting that cuts them', () => {
    const [{ spans }] = loadLibrary('ai-7.0.173-otel').map(readScenario) as [(typeof recorded)[number]]
    const [run] = buildRuns(spans.map((item) => ({ ...item, attributes: cutStrings(item.attributes) })))
    expect(run?.toolCalls.map((call) => call.name)).toEqual(['weather-tool'])
    expect(run?.missing.find(({ what }) => what === 'availableTools')).toMatchObject({
      why: 'truncated',
      switch: expect.stringContaining('OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT'),
    })
  })
})

/** As the SDK does with a value length limit. */
function cutStrings(attributes: SourceSpan['attributes']): SourceSpan['attributes'] {
  return Object.fromEntries(
    Object.entries(attributes).map(([key, value]) => [key, typeof value === 'string' ? value.slice(0, 160) : value]),
  )
}

function allRuns(runs: readonly AgentRun[]): readonly AgentRun[] {
  return runs.flatMap((run) => [run, ...allRuns(run.children)])
}

function hasOwnRoot(spans: readonly SourceSpan[]): boolean {
  // Model calls that start traces of their own are put together by what they say: two recordings may say the same.
  return new Set(spans.map((item) => item.traceId)).size === 1
}

function hash(text: string, seed: number): number {
  let value = seed
  for (let index = 0; index < text.length; index++) value = Math.imul(value ^ text.charCodeAt(index), 0x01000193)
  return value
}
