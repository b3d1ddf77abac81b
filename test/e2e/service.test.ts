import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { context, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { resourceFromAttributes } from '@opentelemetry/resources'
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'
import { createScriptedOpenAIServer } from 'spanscore/testing'
import { afterEach, expect, it } from 'vitest'

import { startProcess } from '../../server/test/kills/server-process.ts'
import type { ServerProcess } from '../../server/test/kills/server-process.ts'
import { runPython } from './python.ts'
import { eventually } from '../../scripts/stack.ts'
import { startStack } from './stack.ts'
import type { JaegerSpan, Stack } from './stack.ts'

let stack: Stack | undefined
let server: ServerProcess | undefined
let folder: string | undefined
afterEach(async () => {
  await server?.stop()
  await stack?.close()
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true })
})

/** One line in front of an existing backend: the service takes everything, passes it on, and adds scores. */
async function startService(): Promise<{ stack: Stack; grpcUrl: string; httpUrl: string }> {
  stack = await startStack()
  folder = mkdtempSync(join(tmpdir(), 'spanscore-e2e-service-'))
  server = await startProcess(['--to', stack.otlpUrl, '--forward', '--data', folder])
  return { stack, grpcUrl: `http://127.0.0.1:${server.grpcPort}`, httpUrl: `http://127.0.0.1:${server.httpPort}` }
}

/** All spans of the trace in which Jaeger has the scores of a service. */
async function scoredTrace(running: Stack, service: string): Promise<readonly JaegerSpan[]> {
  const late = await eventually(`scores of ${service} in Jaeger`, async () => {
    const spans = await running.spansByTags(service, { 'gen_ai.evaluation.name': 'tool_errors' })
    return spans.length > 0 && spans
  })
  const response = await fetch(`${running.jaegerUrl}/api/traces/${late[0]?.traceID}`)
  const { data } = (await response.json()) as { data: { spans: JaegerSpan[] }[] }
  return data.flatMap(({ spans }) => spans)
}

const tagOf = (span: JaegerSpan | undefined, key: string) => span?.tags.find((tag) => tag.key === key)?.value

const message = (role: string, content: string) => JSON.stringify([{ role, parts: [{ type: 'text', content }] }])

it.each([
  ['OpenAI Agents', 'openai_agents_app.py'],
  ['Pydantic AI', 'pydantic_ai_app.py'],
])('scores a Python agent of %s that has only an OTLP endpoint, in one trace of Jaeger', async (_, app) => {
  const { stack: running, grpcUrl } = await startService()
  await using model = await createScriptedOpenAIServer((request) =>
    request.toolResults.length === 0
      ? { toolCalls: [{ name: 'weather', arguments: { city: 'Oslo' } }] }
      : 'It rains in Oslo.',
  )
  const service = app.replace('.py', '')
  const output = await runPython(app, {
    OTEL_EXPORTER_OTLP_ENDPOINT: grpcUrl,
    OTEL_SERVICE_NAME: service,
    MODEL_URL: model.url,
  })
  expect(output).toContain('It rains in Oslo.')
  const spans = await scoredTrace(running, service)
  const score = spans.find((span) => span.operationName === 'evaluate tool_errors')
  expect(tagOf(score, 'spanscore.tool_errors.label')).toBe('pass')
  expect(tagOf(score, 'spanscore.complete')).toBe(true)
  expect(tagOf(score, 'gen_ai.agent.name')).toBe('weather-agent')
  // The agent's own spans are in the same trace.
  expect(spans.some((span) => /weather/.test(span.operationName) && !span.operationName.startsWith('evaluate'))).toBe(
    true,
  )
})

it('scores a run whose spans come from a Node.js and a Python process, once', async () => {
  const { stack: running, grpcUrl, httpUrl } = await startService()
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ 'service.name': 'node-agent' }),
    spanProcessors: [new BatchSpanProcessor({ exporter: new OTLPTraceExporter({ url: `${httpUrl}/v1/traces` }) })],
  })
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
  trace.setGlobalTracerProvider(provider)
  const tracer = trace.getTracer('node-agent')
  await tracer.startActiveSpan('invoke_agent weather-agent', async (agent) => {
    agent.setAttributes({
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.agent.name': 'weather-agent',
      'gen_ai.input.messages': message('user', 'Weather in Oslo?'),
      'gen_ai.output.messages': message('assistant', 'It rains.'),
    })
    tracer.startActiveSpan('chat gpt', (chat) => {
      chat.setAttributes({
        'gen_ai.operation.name': 'chat',
        'gen_ai.request.model': 'gpt',
        'gen_ai.output.messages': JSON.stringify([
          {
            role: 'assistant',
            parts: [{ type: 'tool_call', id: 'call_1', name: 'weather', arguments: { city: 'Oslo' } }],
          },
        ]),
      })
      chat.end()
    })
    const { traceId, spanId } = agent.spanContext()
    await runPython('tool_service.py', {
      OTEL_EXPORTER_OTLP_ENDPOINT: grpcUrl,
      OTEL_SERVICE_NAME: 'python-tools',
      TRACEPARENT: `00-${traceId}-${spanId}-01`,
    })
    agent.end()
  })
  await provider.shutdown()
  const spans = await scoredTrace(running, 'node-agent')
  const scores = spans.filter((span) => span.operationName === 'evaluate tool_errors')
  expect(scores).toHaveLength(1)
  // These are the agent, the model call, and the tool of the other process.
  expect(tagOf(scores[0], 'spanscore.revision')).toBe(3)
  expect(tagOf(scores[0], 'spanscore.complete')).toBe(true)
})
