/**
 * One side of the measured agent, in a process of its own: an agent of the AI SDK with two tools that asks its model over HTTP and exports
 * spans, events and metrics in batches. `node agent-side.ts <model> <collector> [folder of a build]`. For each message, it runs the
 * agent that many times, and answers with the microseconds of processor time of one run.
 */
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

import { createOpenAI } from '@ai-sdk/openai'
import { OpenTelemetry } from '@ai-sdk/otel'
import { context } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { OTLPLogExporter } from '@opentelemetry/exporter-logs-otlp-http'
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-http'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import { BatchLogRecordProcessor, LoggerProvider } from '@opentelemetry/sdk-logs'
import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics'
import { TracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace'
import { tool, ToolLoopAgent } from 'ai'
import type * as spanscore from 'spanscore'
import { z } from 'zod'

const [, , model = '', collector = '', build] = process.argv

context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
const tracerProvider = new TracerProvider({
  spanProcessors: [new BatchSpanProcessor({ exporter: new OTLPTraceExporter({ url: `${collector}/v1/traces` }) })],
})
const loggerProvider = new LoggerProvider({
  processors: [new BatchLogRecordProcessor({ exporter: new OTLPLogExporter({ url: `${collector}/v1/logs` }) })],
})
const metricReader = new PeriodicExportingMetricReader({
  exporter: new OTLPMetricExporter({ url: `${collector}/v1/metrics` }),
})
const meterProvider = new MeterProvider({ readers: [metricReader] })

let scored = 0
if (build !== undefined) {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- builds have the same entry
  const { attachScoring, createScorer, createToolCallAccuracyScorerCode } = (await import(
    pathToFileURL(join(resolve(build), 'dist/entries/main.js')).href
  )) as typeof spanscore
  attachScoring({
    scorers: [
      createToolCallAccuracyScorerCode({ expectedTool: 'weather-tool' }),
      createScorer({
        id: 'answered',
        inline: true,
        description: 'Whether there is an answer.',
        version: '1',
        needs: ['output'],
      }).generateScore(({ run }) => {
        scored += 1
        return run.output === undefined || run.output === '' ? 0 : 1
      }),
    ],
    tracerProvider,
    loggerProvider,
    meterProvider,
  })
}

const agent = new ToolLoopAgent({
  model: createOpenAI({ baseURL: model, apiKey: 'scripted' }).chat('gpt-5-mini'),
  instructions: 'You answer questions about weather and trains. Use the tools where they help.',
  tools: {
    'weather-tool': tool({
      description: 'The weather in a city.',
      inputSchema: z.object({ city: z.string() }),
      execute: ({ city }) => ({ city, celsius: 4, condition: 'rain' }),
    }),
    'train-tool': tool({
      description: 'The next train between two cities.',
      inputSchema: z.object({ from: z.string(), to: z.string() }),
      execute: ({ from, to }) => ({ from, to, departure: '08:03' }),
    }),
  },
  telemetry: {
    functionId: 'weather-agent',
    integrations: [new OpenTelemetry({ tracer: tracerProvider.getTracer('gen_ai') })],
  },
})

process.on('message', (runs: number) => void measure(runs).then((us) => process.send?.(us)))
process.on('disconnect', () => process.exit())
process.send?.('ready')

async function measure(runs: number): Promise<number> {
  scored = 0
  const before = process.cpuUsage()
  for (let run = 0; run < runs; run += 1) {
    await agent.generate({ prompt: 'What is the weather in Oslo, and when does the next train leave?' })
  }
  await tracerProvider.forceFlush()
  await loggerProvider.forceFlush()
  await meterProvider.forceFlush()
  const { user, system } = process.cpuUsage(before)
  if (build !== undefined && scored !== runs) throw new Error(`expected ${runs} runs to be scored, got ${scored}`)
  return (user + system) / runs
}
