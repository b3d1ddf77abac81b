/**
 * Two days of an agent that tracks parcels, as spans with times of the past: three hours before the end version 1.5.0 came, whose tool fails
 * for one carrier. The page compares a day with the day before, which nobody waits for in a demo. It counts whole hours, and so do these
 * days: they end with the last full hour, so that the figures are the same whenever the demo starts.
 */
import { ROOT_CONTEXT, SpanStatusCode, trace } from '@opentelemetry/api'
import type { Attributes, Tracer } from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { resourceFromAttributes } from '@opentelemetry/resources'
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'

const HOUR_MS = 3_600_000
const RUNS_AN_HOUR = 10
/** With the hour in progress, these are two days. */
const HOURS = 47
/** Hours before the end. */
const NEW_VERSION = 3
const CARRIERS = ['northpost', 'citybike', 'railcargo']

/** Sends the runs to an OTLP/HTTP endpoint. */
export async function sendTwoDays(otlpUrl: string): Promise<void> {
  const exporter = new OTLPTraceExporter({ url: `${otlpUrl}/v1/traces` })
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ 'service.name': 'spanscore-demo' }),
    spanProcessors: [new BatchSpanProcessor({ exporter, maxQueueSize: 4 * HOURS * RUNS_AN_HOUR })],
  })
  const tracer = provider.getTracer('parcels')
  const endMs = Math.floor(Date.now() / HOUR_MS) * HOUR_MS
  for (let index = 0; index < HOURS * RUNS_AN_HOUR; index++) {
    const hoursBefore = HOURS - index / RUNS_AN_HOUR
    track(tracer, endMs - hoursBefore * HOUR_MS, index, hoursBefore <= NEW_VERSION)
  }
  await provider.shutdown()
}

/** Writes one run: a model asks for a tool, and answers. */
function track(tracer: Tracer, startMs: number, index: number, isNew: boolean): void {
  const carrier = CARRIERS[index % CARRIERS.length]
  const fails = isNew && carrier === 'northpost'
  const answer = fails ? 'Your parcel will arrive soon.' : `${carrier} brings your parcel tomorrow.`
  const call = { type: 'tool_call', id: 'call_1', name: 'track_parcel', arguments: { parcel: `P-${1000 + index}` } }
  const agent = tracer.startSpan(
    'invoke_agent parcel-agent',
    {
      startTime: startMs,
      attributes: {
        'gen_ai.operation.name': 'invoke_agent',
        'gen_ai.agent.name': 'parcel-agent',
        'gen_ai.agent.version': isNew ? '1.5.0' : '1.4.2',
        'gen_ai.input.messages': message('user', { type: 'text', content: `Where is my parcel P-${1000 + index}?` }),
        'gen_ai.output.messages': message('assistant', { type: 'text', content: answer }),
        'app.carrier': carrier,
      },
    },
    ROOT_CONTEXT,
  )
  const step = (name: string, atMs: number, attributes: Attributes, error?: string): void => {
    const span = tracer.startSpan(name, { startTime: atMs, attributes }, trace.setSpan(ROOT_CONTEXT, agent))
    if (error !== undefined) span.setStatus({ code: SpanStatusCode.ERROR, message: error })
    span.end(atMs + 400)
  }
  const chat = { 'gen_ai.operation.name': 'chat', 'gen_ai.request.model': 'gpt-5-mini' }
  step('chat gpt-5-mini', startMs, { ...chat, 'gen_ai.output.messages': message('assistant', call) })
  const tool = {
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': call.name,
    'gen_ai.tool.call.id': call.id,
    'gen_ai.tool.call.arguments': JSON.stringify(call.arguments),
  }
  step(
    'execute_tool track_parcel',
    startMs + 400,
    fails ? { ...tool, 'error.type': 'HttpError' } : { ...tool, 'gen_ai.tool.call.result': '{"arrives":"tomorrow"}' },
    fails ? 'northpost: 410 Gone, use version 2 of this API' : undefined,
  )
  agent.end(startMs + 900)
}

function message(role: string, part: object): string {
  return JSON.stringify([{ role, parts: [part] }])
}
