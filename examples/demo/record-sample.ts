/**
 * Records the sample of the command line, `cli/sample/traces.jsonl`: the demo's agents, traced by the AI SDK and OpenTelemetry, without
 * scores. Run by `npm run sample`.
 */
import { writeFileSync } from 'node:fs'

import { createOpenAI } from '@ai-sdk/openai'
import { OpenTelemetry } from '@ai-sdk/otel'
import { context, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { JsonTraceSerializer } from '@opentelemetry/otlp-transformer'
import { resourceFromAttributes } from '@opentelemetry/resources'
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'
import { registerTelemetry } from 'ai'
import { createScriptedOpenAIServer } from 'spanscore/testing'

import { createDemoAgents } from './agents.ts'
import { answerAgent, questions } from './script.ts'

// The spans record stack traces, whose paths belong to this machine.
Error.stackTraceLimit = 0

const exporter = new InMemorySpanExporter()
const provider = new TracerProvider({
  resource: resourceFromAttributes({ 'service.name': 'spanscore-sample' }),
  spanProcessors: [new SimpleSpanProcessor({ exporter })],
})
context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
trace.setGlobalTracerProvider(provider)
registerTelemetry(new OpenTelemetry())

const server = await createScriptedOpenAIServer(answerAgent)
const agents = createDemoAgents(createOpenAI({ baseURL: server.url, apiKey: 'scripted' })('gpt-5-mini'))
const lines: string[] = []
for (const question of questions.weather) await record(agents.weather(question))
for (const question of questions.support) await record(agents.support(question))
await record(agents.weather(questions.outage[0]).catch(() => ''))
await Promise.all([server.close(), provider.shutdown()])
writeFileSync('cli/sample/traces.jsonl', `${lines.join('\n')}\n`)

/** Writes the spans of one run as a line, as the Collector's file exporter does. */
async function record(run: Promise<string>): Promise<void> {
  await run
  const request = JsonTraceSerializer.serializeRequest(exporter.getFinishedSpans())
  lines.push(new TextDecoder().decode(request))
  exporter.reset()
}
