import { context, trace } from '@opentelemetry/api'
import type { Attributes } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { InMemorySpanExporter, TracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace'

/** Content of the runs, which no notice may hold. */
export const SECRET = 'content-that-nobody-may-see'

/** Registers a tracer provider that keeps its spans. */
export function startProvider(): TracerProvider {
  const provider = new TracerProvider({
    spanProcessors: [new SimpleSpanProcessor({ exporter: new InMemorySpanExporter() })],
  })
  registerProvider(provider)
  return provider
}

/** Registers a tracer provider, with a context manager. */
export function registerProvider(provider: TracerProvider): void {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
  trace.setGlobalTracerProvider(provider)
}

/** Writes the span of an agent of the given name, with content. */
export function runAgent(name: string, more: Attributes = {}): void {
  const messages = JSON.stringify([{ role: 'user', parts: [{ type: 'text', content: SECRET }] }])
  const attributes = {
    'gen_ai.operation.name': 'invoke_agent',
    'gen_ai.agent.name': name,
    'gen_ai.input.messages': messages,
    'gen_ai.output.messages': messages.replace('user', 'assistant'),
    ...more,
  }
  trace.getTracer('agents').startSpan(`invoke_agent ${name}`, { attributes }).end()
}
