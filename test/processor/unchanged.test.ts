import { ROOT_CONTEXT, trace } from '@opentelemetry/api'
import type { Attributes, Span, Tracer } from '@opentelemetry/api'
import type { SpanProcessor } from '@opentelemetry/sdk-trace'
import { expect, test } from 'vitest'

import { attachScoring } from '../../src/processor/attach/attach.ts'
import { ScoringSpanProcessor } from '../../src/processor/scoring-span-processor.ts'
import type { ReceivedSpan } from '../../src/testing/otlp-receiver.ts'
import {
  agentAttributes,
  chatAttributes,
  cleanUp,
  codeScorer,
  createPipeline,
  judgeScorer,
  toolAttributes,
} from './harness.ts'

/** Ids that are the same in every run of the application. */
function countingIds() {
  let next = 0
  const id = (length: number) => (next += 1).toString(16).padStart(length, '0')
  return { generateTraceId: () => id(32), generateSpanId: () => id(16) }
}

/** An application with fixed times: a server span, two agents, one of them nested, an error, events, links. */
function runApplication(tracer: Tracer): void {
  let timeMs = 1_800_000_000_000
  const start = (name: string, attributes: Attributes, parent?: Span) =>
    tracer.startSpan(
      name,
      { attributes, startTime: (timeMs += 3) },
      parent === undefined ? ROOT_CONTEXT : trace.setSpan(ROOT_CONTEXT, parent),
    )
  const server = start('POST /chat', { 'http.request.method': 'POST' })
  const outer = start('invoke_agent outer', agentAttributes('outer'), server)
  const tool = start('execute_tool ask', toolAttributes('ask'), outer)
  const inner = start('invoke_agent inner', agentAttributes('inner'), tool)
  const chat = start('chat gpt-test', chatAttributes(), inner)
  chat.addEvent('first token', { index: 0 }, timeMs)
  chat.addLink({ context: server.spanContext(), attributes: { kind: 'cause' } })
  chat.setStatus({ code: 2, message: 'overloaded' })
  for (const span of [chat, inner, tool, outer, server]) span.end((timeMs += 7.25))
}

async function sent(
  processors: (batch: SpanProcessor) => SpanProcessor[],
  attach: boolean,
): Promise<readonly ReceivedSpan[]> {
  const { receiver, tracer, flush } = await createPipeline({ processors, config: { idGenerator: countingIds() } })
  const scoring = attach ? attachScoring({ scorers: scorers() }) : undefined
  runApplication(tracer)
  await flush()
  await scoring?.detach()
  await cleanUp()
  return receiver.spans
}

const scorers = () => [
  { scorer: codeScorer('exact'), scope: 'every-agent' as const },
  { scorer: judgeScorer('fitting'), scope: 'every-agent' as const },
]

function withoutOurs(spans: readonly ReceivedSpan[]): unknown {
  return spans
    .filter(({ scope }) => scope.name !== 'spanscore')
    .map((span) => ({
      ...span,
      attributes: Object.fromEntries(Object.entries(span.attributes).filter(([key]) => !key.startsWith('spanscore.'))),
    }))
    .toSorted((a, b) => (a.spanId < b.spanId ? -1 : 1))
}

test('the same application sends the same spans, ids and times, but for our own attributes and late spans', async () => {
  const without = await sent((batch) => [batch], false)
  expect(without).toHaveLength(5)
  const beside = await sent((batch) => [new ScoringSpanProcessor({ scorers: scorers() }), batch], false)
  const inFront = await sent((batch) => [new ScoringSpanProcessor({ scorers: scorers(), next: batch })], false)
  const attached = await sent((batch) => [batch], true)
  expect(beside.filter(({ scope }) => scope.name === 'spanscore')).toHaveLength(2)
  for (const spans of [beside, inFront, attached]) {
    expect(JSON.stringify(spans)).toContain('spanscore.fitting.score')
    expect(withoutOurs(spans)).toEqual(withoutOurs(without))
  }
})
