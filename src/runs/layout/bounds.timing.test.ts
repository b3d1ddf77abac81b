import { expect, it } from 'vitest'
import { sourceSpan } from '../../../test/fixtures/source-span.ts'
import type { SourceLog, SourceSpan } from '../../spans/source-span.ts'
import { buildRuns } from '../build-runs.ts'

const COUNT = 50_000
const CHAT = { 'gen_ai.operation.name': 'chat', 'gen_ai.request.model': 'm' }
const AGENT = { 'gen_ai.operation.name': 'invoke_agent' }
const TOOL = { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': 'search' }

function spansOf(make: (index: number) => Partial<SourceSpan>): SourceSpan[] {
  return Array.from({ length: COUNT }, (_, index) => sourceSpan({ endTimeMs: 1e6, ...make(index) }))
}

const trace = (index: number): string => String(index).padStart(32, '1')

/** Each takes minutes where every span is compared with, or copied for, every other one. */
it.each<[string, () => SourceSpan[]]>([
  [
    'records of one model call, each inside the one before',
    () =>
      spansOf((index) => ({
        spanId: `s${index}`,
        parentSpanId: index === 0 ? undefined : `s${index - 1}`,
        attributes: CHAT,
      })),
  ],
  [
    'records of one tool call beside one another inside it',
    () => [
      sourceSpan({ spanId: 'agent', attributes: AGENT }),
      sourceSpan({ spanId: 'tool', parentSpanId: 'agent', attributes: TOOL }),
      ...spansOf((index) => ({ spanId: `s${index}`, parentSpanId: 'tool', attributes: TOOL })),
    ],
  ],
  [
    'agents, and calls of clients beside them, all at one time',
    () => [
      ...spansOf((index) => ({ spanId: `a${index}`, traceId: trace(index), attributes: AGENT })),
      ...spansOf((index) => ({
        spanId: `m${index}`,
        traceId: trace(index),
        parentSpanId: `a${index}`,
        attributes: CHAT,
      })),
      ...spansOf((index) => ({
        spanId: `c${index}`,
        traceId: trace(COUNT + index),
        scope: { name: 'client' },
        attributes: CHAT,
      })),
    ],
  ],
  [
    'calls of two instrumentations at one time, of different models',
    () => [
      sourceSpan({ spanId: 'agent', attributes: AGENT }),
      ...spansOf((index) => ({
        spanId: `s${index}`,
        parentSpanId: 'agent',
        scope: { name: `scope ${index % 2}` },
        attributes: { ...CHAT, 'gen_ai.request.model': `m${index}` },
      })),
    ],
  ],
])('reads fifty thousand %s in linear time', (_, make) => {
  const spans = make()
  const started = process.threadCpuUsage()
  expect(buildRuns(spans).length).toBeGreaterThan(0)
  const { user, system } = process.threadCpuUsage(started)
  expect((user + system) / 1000).toBeLessThan(20_000)
})

it('reads a hundred thousand log records of one model call in linear time', () => {
  const span = sourceSpan({ attributes: CHAT })
  const logs: SourceLog[] = Array.from({ length: 100_000 }, (_, index) => ({
    traceId: span.traceId,
    spanId: span.spanId,
    eventName: 'gen_ai.user.message',
    timeMs: index,
    attributes: {},
    body: { content: `question ${index}` },
    scope: { name: 'app' },
  }))
  const started = process.threadCpuUsage()
  expect(buildRuns([span], { logs })[0]?.userInput).toBe('question 99999')
  const { user, system } = process.threadCpuUsage(started)
  expect((user + system) / 1000).toBeLessThan(20_000)
})
