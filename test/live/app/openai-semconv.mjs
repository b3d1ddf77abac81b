import { createRequire } from 'node:module'

import { SpanStatusCode, trace } from '@opentelemetry/api'
import { registerInstrumentations } from '@opentelemetry/instrumentation'
import { OpenAIInstrumentation } from '@opentelemetry/instrumentation-openai'

const tracer = trace.getTracer('my-agent-app')

/** The package as the instrumentation patches it: where it is required. */
export function load() {
  registerInstrumentations({ instrumentations: [new OpenAIInstrumentation({ captureMessageContent: true })] })
  return createRequire(import.meta.url)('openai')
}

/** Spans by hand, by OpenTelemetry's conventions; the model's calls are traced by `@opentelemetry/instrumentation-openai`. */
export function withSpan(name, attributes, work, outcome) {
  return tracer.startActiveSpan(name, { attributes }, async (span) => {
    try {
      const result = await work()
      span.setAttributes(outcome(result))
      return result
    } catch (error) {
      span.recordException(error)
      span.setStatus({ code: SpanStatusCode.ERROR, message: error.message })
      throw error
    } finally {
      span.end()
    }
  })
}

function asMessages(role, text) {
  return JSON.stringify([{ role, parts: [{ type: 'text', content: text }] }])
}

export function traceAgent(run, loop) {
  const attributes = {
    'gen_ai.operation.name': 'invoke_agent',
    'gen_ai.agent.name': run.agent,
    'gen_ai.input.messages': asMessages('user', run.input),
    'gen_ai.system_instructions': JSON.stringify([{ type: 'text', content: run.system }]),
    'gen_ai.tool.definitions': JSON.stringify(run.tools.map(({ name }) => ({ type: 'function', name }))),
  }
  return withSpan(`invoke_agent ${run.agent}`, attributes, loop, (text) => ({
    'gen_ai.output.messages': asMessages('assistant', text),
  }))
}

export function traceTool({ name, id, args }, execute) {
  const attributes = {
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': name,
    'gen_ai.tool.call.id': id,
    'gen_ai.tool.call.arguments': JSON.stringify(args),
  }
  return withSpan(`execute_tool ${name}`, attributes, execute, (result) => ({
    'gen_ai.tool.call.result': JSON.stringify(result),
  }))
}
