import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import * as traceloop from '@traceloop/node-server-sdk'

/** Traceloop starts the SDK itself. */
export async function start() {
  const modules = {
    langchain: async () => true,
    openAI: () => load('openai', 'OpenAI'),
    anthropic: () => load('@anthropic-ai/sdk'),
  }
  const name = process.env.LIVE_INSTRUMENTS
  traceloop.initialize({
    appName: 'live',
    exporter: new OTLPTraceExporter(),
    instrumentModules: { [name]: await modules[name]() },
    silenceInitializationMessage: true,
    traceloopSyncEnabled: false,
  })
  return { shutdown: () => traceloop.forceFlush() }
}

async function load(specifier, member) {
  const module = await import(specifier)
  return member === undefined ? module : module[member]
}
