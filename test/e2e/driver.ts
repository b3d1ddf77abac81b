/** An application whose agent's runs are scored by the real processor and sent by the real SDK; only the content of its runs is invented. */
import { context, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import { OTLPLogExporter } from '@opentelemetry/exporter-logs-otlp-http'
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-http'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { resourceFromAttributes } from '@opentelemetry/resources'
import { BatchLogRecordProcessor, LoggerProvider } from '@opentelemetry/sdk-logs'
import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics'
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'
import { ScoringSpanProcessor } from 'spanscore'
import type { ScoringOptions } from 'spanscore'

/** What one run does. */
export interface Conduct {
  /** The tools that the agent calls, in order. */
  readonly tools: readonly string[]
  /** The run ends in an error. */
  readonly fails?: boolean
}

export interface Application {
  readonly run: (conduct: Conduct) => void
  readonly flush: () => Promise<void>
  readonly shutdown: () => Promise<void>
}

export function startApplication(
  service: string,
  otlpUrl: string,
  options: Pick<ScoringOptions, 'scorers' | 'sample' | 'emit'>,
  resource: Readonly<Record<string, string | number | undefined>> = {},
): Application {
  const attributes = { 'service.name': service, 'service.instance.id': `${service}-1`, ...resource }
  const shared = { resource: resourceFromAttributes(attributes) }
  const meterProvider = new MeterProvider({
    ...shared,
    readers: [
      new PeriodicExportingMetricReader({
        exporter: new OTLPMetricExporter({ url: `${otlpUrl}/v1/metrics` }),
        exportIntervalMillis: 1000,
        exportTimeoutMillis: 1000,
      }),
    ],
  })
  const loggerProvider = new LoggerProvider({
    ...shared,
    processors: [
      new BatchLogRecordProcessor({
        exporter: new OTLPLogExporter({ url: `${otlpUrl}/v1/logs` }),
        scheduledDelayMillis: 500,
      }),
    ],
  })
  const tracerProvider: TracerProvider = new TracerProvider({
    ...shared,
    spanProcessors: [
      new ScoringSpanProcessor({
        ...options,
        upstreamProbability: 1,
        meterProvider,
        loggerProvider,
        tracerProvider: { getTracer: (...named) => tracerProvider.getTracer(...named) },
        next: new BatchSpanProcessor({
          exporter: new OTLPTraceExporter({ url: `${otlpUrl}/v1/traces` }),
          scheduledDelayMillis: 500,
          maxQueueSize: 20_000,
        }),
      }),
    ],
  })
  const tracer = tracerProvider.getTracer('weather-service')

  /** One run in the GenAI conventions: the agent, a model call for each step, its tools. */
  const run = ({ tools, fails = false }: Conduct) => {
    const question = [{ role: 'user', parts: [{ type: 'text', content: 'What is the weather in Oslo?' }] }]
    const answer = [{ role: 'assistant', parts: [{ type: 'text', content: 'Four degrees.' }], finish_reason: 'stop' }]
    const agent = tracer.startSpan('invoke_agent weather-agent', {
      attributes: {
        'gen_ai.operation.name': 'invoke_agent',
        'gen_ai.provider.name': 'openai',
        'gen_ai.agent.name': 'weather-agent',
        'gen_ai.request.model': 'gpt-5-mini',
        'gen_ai.input.messages': JSON.stringify(question),
      },
    })
    const within = trace.setSpan(context.active(), agent)
    const calls = tools.map((name, index) => ({
      type: 'tool_call',
      id: `call-${index}`,
      name,
      arguments: { location: 'Oslo' },
    }))
    const step = (input: unknown, output: unknown) =>
      tracer
        .startSpan(
          'chat gpt-5-mini',
          {
            kind: SpanKind.CLIENT,
            attributes: {
              'gen_ai.operation.name': 'chat',
              'gen_ai.provider.name': 'openai',
              'gen_ai.request.model': 'gpt-5-mini',
              'gen_ai.input.messages': JSON.stringify(input),
              'gen_ai.output.messages': JSON.stringify(output),
            },
          },
          within,
        )
        .end()
    if (calls.length > 0) step(question, [{ role: 'assistant', parts: calls, finish_reason: 'tool_call' }])
    for (const call of calls) {
      tracer
        .startSpan(
          `execute_tool ${call.name}`,
          {
            attributes: {
              'gen_ai.operation.name': 'execute_tool',
              'gen_ai.tool.name': call.name,
              'gen_ai.tool.call.id': call.id,
              'gen_ai.tool.call.arguments': JSON.stringify(call.arguments),
              'gen_ai.tool.call.result': '{"temperatureC":4}',
            },
          },
          within,
        )
        .end()
    }
    if (fails) {
      agent.setAttribute('error.type', 'TimeoutError')
      agent.setStatus({ code: SpanStatusCode.ERROR, message: 'the model did not answer' })
    } else {
      step(question, answer)
      agent.setAttribute('gen_ai.output.messages', JSON.stringify(answer))
    }
    agent.end()
  }

  const flush = async () => {
    await tracerProvider.forceFlush()
    await Promise.all([meterProvider.forceFlush(), loggerProvider.forceFlush()])
  }
  return {
    run,
    flush,
    shutdown: async () => {
      await tracerProvider.shutdown()
      await Promise.all([meterProvider.shutdown(), loggerProvider.shutdown()])
    },
  }
}
