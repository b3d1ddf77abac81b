import { ROOT_CONTEXT, trace } from '@opentelemetry/api'
import { BasicTracerProvider } from '@opentelemetry/sdk-trace-base'
import { expect, test } from 'vitest'

import { planLive } from './plan-live.ts'
import { TraceStore } from './trace-store.ts'

const ignore = (): void => undefined

test('A span that is given twice is laid out once', () => {
  const store = new TraceStore({
    sinceMs: 0,
    settleMs: 1000,
    rescore: false,
    maxOpenRuns: 10,
    maxSpansPerRun: 10,
    maxContentBytes: 1_000_000,
    maxRunAgeMs: 1_000_000,
    countsNested: false,
    now: () => 0,
    isWanted: () => true,
    onSettled: ignore,
    onEvicted: ignore,
    onDuplicate: ignore,
    onLate: ignore,
  })
  const tracer = new BasicTracerProvider().getTracer('agents')
  const start = (operation: string, parent?: ReturnType<typeof tracer.startSpan>) => {
    const attributes = { 'gen_ai.operation.name': operation }
    const context = parent === undefined ? ROOT_CONTEXT : trace.setSpan(ROOT_CONTEXT, parent)
    const span = tracer.startSpan(operation, { attributes }, context)
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the SDK's own span
    const sdkSpan = span as unknown as Parameters<typeof store.start>[0]
    store.start(sdkSpan, parent)
    const live = store.liveSpanOf(sdkSpan)
    expect.assert(live !== undefined)
    return { span, live }
  }
  const agent = start('invoke_agent')
  const chat = start('chat', agent.span)
  for (const { live } of [chat, agent]) store.ending(live)
  const [plan, ...others] = planLive([agent.live, chat.live, chat.live, agent.live], false)
  expect(others).toEqual([])
  expect(plan?.models).toEqual([chat.live])
})
