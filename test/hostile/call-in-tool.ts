import { ROOT_CONTEXT, trace } from '@opentelemetry/api'
import type { Tracer } from '@opentelemetry/api'

/** A tool without an agent, in a trace of its own, that calls a model several times. */
export function callInTool(tracer: Tracer, name: string, calls: number): void {
  const tool = tracer.startSpan('look', { attributes: { 'gen_ai.operation.name': 'execute_tool' } }, ROOT_CONTEXT)
  for (let call = 0; call < calls; call += 1) {
    const question = [{ role: 'user', parts: [{ type: 'text', content: `question ${name} ${call}` }] }]
    const attributes = { 'gen_ai.operation.name': 'chat', 'gen_ai.input.messages': JSON.stringify(question) }
    tracer.startSpan('chat', { attributes }, trace.setSpan(ROOT_CONTEXT, tool)).end()
  }
  tool.end()
}
