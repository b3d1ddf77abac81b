import { describe, expect, it } from 'vitest'
import { agent, chat, tool } from '../../test/fixtures/gen-ai-spans.ts'
import { sourceSpan } from '../../test/fixtures/source-span.ts'
import { buildRuns } from './build-runs.ts'

describe('bounds', () => {
  it('reads a trace of 100,000 spans in bounded time, wide', () => {
    const spans = [agent('root', { endTimeMs: 200_000 })]
    for (let index = 0; index < 50_000; index++) {
      const at = { parentSpanId: 'root', startTimeMs: index * 2, endTimeMs: index * 2 + 1 }
      spans.push(chat(`c${index}`, at), tool(`t${index}`, at))
    }
    expect(milliseconds(() => expect(buildRuns(spans)[0]?.toolCalls).toHaveLength(50_000))).toBeLessThan(5000)
  })

  it('reads a trace of 100,000 spans in bounded time, deep', () => {
    const spans = Array.from({ length: 100_000 }, (_, index) =>
      (index % 2 === 0 ? agent : tool)(`s${index}`, {
        parentSpanId: index === 0 ? undefined : `s${index - 1}`,
        startTimeMs: index,
      }),
    )
    let depth = 0
    const elapsedMs = milliseconds(() => {
      for (let run = buildRuns(spans)[0]; run !== undefined; run = run.children[0]) depth++
    })
    expect(depth).toBe(201)
    expect(() => JSON.stringify(buildRuns(spans))).not.toThrow()
    expect(elapsedMs).toBeLessThan(5000)
  })

  it('reads agents at each depth of 50,000 other spans in bounded time', () => {
    const spans = Array.from({ length: 25_000 }, (_, depth) => [
      sourceSpan({ spanId: `s${depth}`, parentSpanId: depth === 0 ? undefined : `s${depth - 1}` }),
      agent(`a${depth}`, { parentSpanId: `s${depth}` }),
    ]).flat()
    expect(milliseconds(() => expect(buildRuns(spans)).toHaveLength(25_000))).toBeLessThan(5000)
  })

  it('reads nested agents whose tools call models, too, in bounded time', () => {
    const spans = Array.from({ length: 10_000 }, (_, depth) => [
      agent(`a${depth}`, { parentSpanId: depth === 0 ? undefined : `t${depth - 1}` }),
      tool(`t${depth}`, { parentSpanId: `a${depth}` }),
      chat(`c${depth}`, { parentSpanId: `t${depth}` }),
    ]).flat()
    expect(milliseconds(() => expect(buildRuns(spans)).toHaveLength(1))).toBeLessThan(5000)
  })

  it('reads 100,000 model calls and tools without an agent in bounded time', () => {
    const bare = Array.from({ length: 100_000 }, (_, index) =>
      (index % 2 === 0 ? chat : tool)(`s${index}`, {
        parentSpanId: index % 3 === 0 ? 'lost' : undefined,
        startTimeMs: index,
      }),
    )
    expect(milliseconds(() => buildRuns(bare))).toBeLessThan(5000)
  })

  it('reads values of 10 MB, whole, cut, and nested as deep as they are long', () => {
    const long = 'x'.repeat(10_000_000)
    const values = [
      `[{"role":"user","parts":[{"type":"text","content":"${long}"}]}]`,
      `[{"role":"user","parts":[{"type":"text","content":"${long}`,
      '['.repeat(5_000_000) + ']'.repeat(5_000_000),
      '{"a":'.repeat(1_600_000) + '1' + '}'.repeat(1_600_000),
      '\\"'.repeat(5_000_000),
      `"${'\\'.repeat(9_999_998)}"`,
    ]
    for (const value of values) {
      const attributes = {
        'gen_ai.operation.name': 'invoke_agent',
        'gen_ai.input.messages': value,
        'gen_ai.output.messages': value,
      }
      const elapsedMs = milliseconds(() => JSON.stringify(buildRuns([agent('a', { attributes })])))
      expect(elapsedMs).toBeLessThan(5000)
    }
  })
})

/** Of this thread's work: a machine that is busy with something else takes longer, and does no more. */
function milliseconds(work: () => void): number {
  const start = process.threadCpuUsage()
  work()
  const { user, system } = process.threadCpuUsage(start)
  return (user + system) / 1000
}
