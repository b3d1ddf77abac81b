import { expect, it } from 'vitest'
import { sourceSpan } from '../../../test/fixtures/source-span.ts'
import type { SourceSpan } from '../../spans/source-span.ts'
import { buildRuns } from '../build-runs.ts'

const scope = { name: 'opentelemetry.instrumentation.openai_agents' }

function span(
  spanId: string,
  parentSpanId: string | undefined,
  [startTimeMs, endTimeMs]: readonly [number, number],
  attributes: SourceSpan['attributes'],
): SourceSpan {
  return sourceSpan({ scope, spanId, parentSpanId, startTimeMs, endTimeMs, attributes, name: `span ${spanId}` })
}

function agent(spanId: string, name: string, times: readonly [number, number]): SourceSpan {
  return span(spanId, 'trace', times, { 'traceloop.span.kind': 'agent', 'gen_ai.agent.name': name })
}

function tool(spanId: string, parentSpanId: string, times: readonly [number, number], query: string): SourceSpan {
  return span(spanId, parentSpanId, times, {
    'traceloop.span.kind': 'tool',
    'gen_ai.tool.name': 'ask',
    'gen_ai.tool.call.arguments': JSON.stringify({ query }),
    'gen_ai.tool.call.result': `about ${query}`,
  })
}

const trace = span('trace', undefined, [0, 100], { 'traceloop.span.kind': 'workflow' })

it('takes a linear time for fifty thousand agents and tools', () => {
  const spans = [trace]
  for (let index = 0; index < 25_000; index++) {
    const at = index * 4
    spans.push(agent(`a${index}`, 'a', [at, at + 3]), tool(`t${index}`, `a${index}`, [at + 1, 200_000], 'x'))
  }
  const started = process.cpuUsage()
  buildRuns(spans)
  expect(process.cpuUsage(started).user / 1e6).toBeLessThan(10)
})
