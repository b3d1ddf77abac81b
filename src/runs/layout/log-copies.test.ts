import { describe, expect, it } from 'vitest'

import type { SourceLog } from '../../spans/source-span.ts'
import { withoutLogCopies } from './log-copies.ts'

function record(body: string, timeMs: number): SourceLog {
  return {
    traceId: '0af7651916cd43dd8448eb211c80319c',
    spanId: 'b7ad6b7169203331',
    eventName: 'gen_ai.user.message',
    timeMs,
    attributes: { 'gen_ai.system': 'openai' },
    body: { content: body },
    scope: { name: 'instrumentation' },
  }
}

const texts = (logs: readonly SourceLog[]): readonly unknown[] =>
  logs.map(({ body }) => (body as { content: string }).content)

describe('withoutLogCopies', () => {
  it('keeps one of two records that are equal to a fraction of a millisecond', () => {
    const [hi, ho] = [record('hi', 1700000000000.25), record('ho', 1700000000001.5)]
    expect(texts(withoutLogCopies([hi, hi, ho]))).toEqual(['hi', 'ho'])
  })

  it('keeps one of each if a whole batch with a clock of milliseconds came three times', () => {
    const batch = [record('hi', 1700000000000), record('ho', 1700000000000)]
    expect(texts(withoutLogCopies([...batch, ...batch, ...batch]))).toEqual(['hi', 'ho'])
  })

  it('keeps equal messages of one request, which have the same millisecond', () => {
    const logs = [record('yes', 1700000000000), record('sure?', 1700000000000), record('yes', 1700000000000)]
    expect(texts(withoutLogCopies(logs))).toEqual(['yes', 'sure?', 'yes'])
    expect(texts(withoutLogCopies([...logs, ...logs]))).toEqual(['yes', 'sure?', 'yes'])
  })

  it('keeps records with equal content and different times', () => {
    expect(withoutLogCopies([record('yes', 1), record('yes', 2)])).toHaveLength(2)
  })
})
