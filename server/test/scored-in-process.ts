import { ROOT_CONTEXT, trace } from '@opentelemetry/api'
import type { SpanContext } from '@opentelemetry/api'
import { TracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace'
import type { ReadableSpan } from '@opentelemetry/sdk-trace'
import { ScoringSpanProcessor } from 'spanscore'
import { createToolErrorsScorer } from 'spanscore/scorers/prebuilt'
import { expect } from 'vitest'

const text = (role: string, content: string) => JSON.stringify([{ role, parts: [{ type: 'text', content }] }])

/** The spans of a run that a processor in the application has scored, as they are exported. */
export async function scoredInProcess(): Promise<readonly ReadableSpan[]> {
  const exporter = new InMemorySpanExporter()
  const next = new SimpleSpanProcessor({ exporter })
  const provider = new TracerProvider({
    spanProcessors: [new ScoringSpanProcessor({ scorers: [createToolErrorsScorer()], next })],
  })
  const tracer = provider.getTracer('my-agents')
  const agent = tracer.startSpan('invoke_agent weather-agent', {
    attributes: {
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.agent.name': 'weather-agent',
      'gen_ai.input.messages': text('user', 'Weather in Oslo?'),
      'gen_ai.output.messages': text('assistant', 'It rains.'),
    },
  })
  const attributes = { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': 'weather' }
  tracer.startSpan('execute_tool weather', { attributes }, trace.setSpan(ROOT_CONTEXT, agent)).end()
  agent.end()
  await provider.forceFlush()
  const spans = exporter.getFinishedSpans()
  expect(spans.at(-1)?.attributes['spanscore.tool_errors.version']).toMatch(/^[0-9a-f]{8}$/)
  return spans
}

/** The same span in another trace, with other values for some of its attributes. */
export function withAttributes(span: ReadableSpan, traceId: string, change: ReadableSpan['attributes']): ReadableSpan {
  const attributes = { ...span.attributes }
  for (const key of Object.keys(change)) if (key in attributes) Object.assign(attributes, change)
  const inTrace = (context: SpanContext) => ({ ...context, traceId })
  const { parentSpanContext } = span
  const copy: Partial<ReadableSpan> = {
    attributes,
    spanContext: () => inTrace(span.spanContext()),
    ...(parentSpanContext !== undefined && { parentSpanContext: inTrace(parentSpanContext) }),
  }
  return new Proxy(span, { get: (target, key) => Reflect.get(copy, key) ?? Reflect.get(target, key, target) })
}
