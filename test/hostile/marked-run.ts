import { ROOT_CONTEXT, trace } from '@opentelemetry/api'
import type { Attributes, Span, Tracer } from '@opentelemetry/api'
import { TracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace'
import type { ReadableSpan } from '@opentelemetry/sdk-trace'

/** The mark is in every text that is content, followed by the name of the place; nothing that leaves the process may hold it. */
export const MARK = 'CANARY'
export const at = (place: string) => `${MARK}-${place}`
const messages = (role: string, ...parts: readonly object[]) => JSON.stringify([{ role, parts }])
const say = (place: string) => ({ type: 'text', content: at(place) })

/** A run whose every message, argument, result, error, schema, event and link holds the mark. */
export function playMarkedRun(tracer: Tracer): void {
  const asked = ['1', '2', '3'].map((id) => ({
    type: 'tool_call',
    id,
    name: id === '3' ? 'unknown' : 't',
    arguments: { [at('key')]: 1, city: at('argument') },
  }))
  const schema = { type: 'object', properties: { city: { type: 'number', pattern: `(?=${at('pattern')})` } } }
  const agent = open(tracer, 'invoke_agent a', {
    'gen_ai.operation.name': 'invoke_agent',
    'gen_ai.agent.name': 'a',
    'gen_ai.system_instructions': JSON.stringify([say('system')]),
    'gen_ai.input.messages': messages('user', say('request')),
    'gen_ai.output.messages': messages('assistant', say('answer')),
    'gen_ai.request.available_tools': at('available'),
  })
  const chat = open(
    tracer,
    'chat m',
    {
      'gen_ai.operation.name': 'chat',
      'gen_ai.input.messages': messages('user', say('request')),
      'gen_ai.output.messages': messages('assistant', ...asked),
      'gen_ai.tool.definitions': JSON.stringify([{ type: 'function', name: 't', parameters: schema }]),
    },
    agent,
  )
  chat.addEvent('gen_ai.user.message', { content: at('event') })
  chat.addEvent('gen_ai.client.inference.operation.details', { 'gen_ai.input.messages': at('details') })
  chat.end()
  for (const id of ['1', '2']) {
    const attributes = { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': 't', 'gen_ai.tool.call.id': id }
    const tool = open(tracer, 'execute_tool t', { ...attributes, 'gen_ai.tool.call.result': at('result') }, agent)
    fail(tool)
    tool.end()
  }
  agent.addLink({ context: agent.spanContext(), attributes: { 'gen_ai.prompt': at('link') } })
  agent.end()
}

function fail(span: Span): void {
  const error = new Error(at('exception'))
  error.stack = `Error: ${at('stack')}\n    at ${at('frame')}`
  span.recordException(error)
  span.setStatus({ code: 2, message: at('status') })
}

/** The spans of such a run, as they are exported. */
export function markedSpans(): ReadableSpan[] {
  const exporter = new InMemorySpanExporter()
  const provider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] })
  playMarkedRun(provider.getTracer('agents'))
  return exporter.getFinishedSpans()
}

function open(tracer: Tracer, name: string, attributes: Attributes, parent?: Span): Span {
  return tracer.startSpan(
    name,
    { attributes },
    parent === undefined ? ROOT_CONTEXT : trace.setSpan(ROOT_CONTEXT, parent),
  )
}
