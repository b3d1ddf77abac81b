/**
 * A real agent of the AI SDK with two tools, whose telemetry goes through OpenTelemetry: with spanscore attached and without, in
 * turn, in one process. Everything but the model and the exporters is real.
 */
import { OpenTelemetry } from '@ai-sdk/otel'
import { BatchLogRecordProcessor, LoggerProvider } from '@opentelemetry/sdk-logs'
import { AggregationTemporality, MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics'
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { context } from '@opentelemetry/api'
import { tool, ToolLoopAgent } from 'ai'
import type { LanguageModel } from 'ai'
import { attachScoring } from 'spanscore'
import { z } from 'zod'

import { codeScorers } from './host-cases.ts'
import { median } from './median.ts'
import type { Row } from './row.ts'

/** Runs of the agent in a block, and pairs of blocks that are played before any is counted. */
const RUNS_PER_BLOCK = 150
const WARM_UP = 12

/** The CPU time that spanscore adds to one run of the agent, with events and metrics. */
export async function agentCosts(rounds: number): Promise<Row[]> {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
  const sides = [createSide(false), createSide(true)] as const
  const costs: [number[], number[]] = [[], []]
  for (let round = -WARM_UP; round < rounds * 2; round += 1) {
    // The side that begins changes from pair to pair.
    const order = round % 2 === 0 ? ([0, 1] as const) : ([1, 0] as const)
    for (const side of order) {
      const cost = await usPerRun(sides[side])
      if (round >= 0) costs[side].push(cost)
    }
  }
  await Promise.all(sides.map((side) => side.shutdown()))
  const added = median(costs[1].map((cost, index) => cost - (costs[0][index] ?? Number.NaN)))
  return [
    {
      title: 'a real agent with two tools, events and metrics: added to a run',
      baseline: `${median(costs[0]).toFixed(0)} µs`,
      measured: `${median(costs[1]).toFixed(0)} µs`,
      value: added / 1000,
      unit: 'ms',
      atMost: 0.15,
    },
  ]
}

interface Side {
  readonly ask: () => Promise<unknown>
  readonly flush: () => Promise<void>
  readonly shutdown: () => Promise<void>
}

function createSide(isScored: boolean): Side {
  const exporter = {
    export: (_: unknown, done: (result: { code: number }) => void) => done({ code: 0 }),
    shutdown: () => Promise.resolve(),
    forceFlush: () => Promise.resolve(),
  }
  const tracerProvider = new BasicTracerProvider({ spanProcessors: [new BatchSpanProcessor(exporter)] })
  const loggerProvider = new LoggerProvider({ processors: [new BatchLogRecordProcessor({ exporter })] })
  const meterProvider = new MeterProvider({
    readers: [
      new PeriodicExportingMetricReader({
        exporter: { ...exporter, selectAggregationTemporality: () => AggregationTemporality.CUMULATIVE },
      }),
    ],
  })
  if (isScored) attachScoring({ scorers: codeScorers(), tracerProvider, loggerProvider, meterProvider })
  const agent = createAgent(new OpenTelemetry({ tracer: tracerProvider.getTracer('gen_ai') }))
  return {
    ask: () => agent.generate({ prompt: 'What is the weather in Oslo, and when does the next train leave?' }),
    flush: async () => {
      await tracerProvider.forceFlush()
      await loggerProvider.forceFlush()
    },
    shutdown: async () => {
      await tracerProvider.shutdown()
      await loggerProvider.shutdown()
      await meterProvider.shutdown()
    },
  }
}

function createAgent(integration: OpenTelemetry) {
  return new ToolLoopAgent({
    model: createModel(),
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
    telemetry: { functionId: 'weather-agent', integrations: [integration] },
  })
}

/** A model that asks for both tools, and then answers. */
function createModel(): Exclude<LanguageModel, string> {
  const usage = {
    inputTokens: { total: 120, noCache: 120, cacheRead: undefined, cacheWrite: undefined },
    outputTokens: { total: 20, text: 20, reasoning: undefined },
  }
  return {
    specificationVersion: 'v4',
    provider: 'scripted',
    modelId: 'scripted-model',
    supportedUrls: {},
    doGenerate({ prompt }) {
      const isAnswered = prompt.at(-1)?.role === 'tool'
      return Promise.resolve({
        content: isAnswered
          ? [{ type: 'text', text: 'It rains in Oslo at 4 degrees, and the next train to Bergen leaves at 08:03.' }]
          : [
              call('call_1', 'weather-tool', { city: 'Oslo' }),
              call('call_2', 'train-tool', { from: 'Oslo', to: 'Bergen' }),
            ],
        finishReason: { unified: isAnswered ? 'stop' : 'tool-calls', raw: undefined },
        usage,
        warnings: [],
      })
    },
    doStream: () => Promise.reject(new Error('The agent does not stream.')),
  }
}

function call(toolCallId: string, toolName: string, input: unknown) {
  return { type: 'tool-call' as const, toolCallId, toolName, input: JSON.stringify(input) }
}

async function usPerRun({ ask, flush }: Side): Promise<number> {
  const before = process.cpuUsage()
  for (let run = 0; run < RUNS_PER_BLOCK; run += 1) await ask()
  await flush()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / RUNS_PER_BLOCK
}
