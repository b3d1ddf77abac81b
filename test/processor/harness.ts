import { context, diag, DiagLogLevel, logs, metrics, ROOT_CONTEXT, trace } from '@opentelemetry/api'
import type { Attributes, Context, Span, Tracer } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { OTLPLogExporter } from '@opentelemetry/exporter-logs-otlp-http'
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-http'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { BatchLogRecordProcessor, LoggerProvider } from '@opentelemetry/sdk-logs'
import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics'
import { TracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace'
import type { SpanProcessor, TracerProviderOptions } from '@opentelemetry/sdk-trace'
import { afterEach, expect } from 'vitest'

import type { Evaluation } from '../../src/model/score.ts'
import type { ScoringOptions } from '../../src/engine/config/scoring-options.ts'
import { ScoringSpanProcessor } from '../../src/processor/scoring-span-processor.ts'
import type { LedgerSnapshot } from '../../src/scoring/ledger.ts'
import { defineScorer } from '../../src/scoring/define-scorer.ts'
import type { ScorerDefinition } from '../../src/scoring/define-scorer.ts'
import type { Scorer } from '../../src/scoring/scorer.ts'
import { createOtlpReceiver } from '../../src/testing/otlp-receiver.ts'
import type { OtlpReceiver } from '../../src/testing/otlp-receiver.ts'

/** A real provider, real exporters, a real receiver. */
export interface Pipeline {
  readonly receiver: OtlpReceiver
  readonly batch: BatchSpanProcessor
  readonly tracer: Tracer
  readonly provider: TracerProvider
  readonly diagnostics: string[]
  /** Everything that was exported, after loggers and meters are flushed too. */
  readonly flush: () => Promise<void>
}

export interface PipelineOptions {
  /** Makes the processors of the provider; the batch processor exports to the receiver. */
  readonly processors: (batch: BatchSpanProcessor) => SpanProcessor[]
  readonly logs?: boolean
  readonly metrics?: boolean
  readonly contextManager?: boolean
  readonly config?: TracerProviderOptions
  /** @default that of the SDK */
  readonly Provider?: typeof TracerProvider
}

const cleanups: (() => Promise<void> | void)[] = []

/** Ends what the test began. Call it also between two pipelines of one test, because they share the API's globals. */
export async function cleanUp(): Promise<void> {
  for (const each of cleanups.splice(0).toReversed()) await each()
}

afterEach(cleanUp)

export function cleanup(run: () => Promise<void> | void): void {
  cleanups.push(run)
}

export async function createPipeline(options: PipelineOptions): Promise<Pipeline> {
  const receiver = await createOtlpReceiver()
  const diagnostics: string[] = []
  const note = (...parts: unknown[]) => void diagnostics.push(parts.join(' '))
  diag.setLogger({ error: note, warn: note, info: note, debug() {}, verbose() {} }, { logLevel: DiagLogLevel.INFO })
  const batch = new BatchSpanProcessor({ exporter: new OTLPTraceExporter({ url: `${receiver.url}/v1/traces` }) })
  const Provider = options.Provider ?? TracerProvider
  const provider = new Provider({ ...options.config, spanProcessors: options.processors(batch) })
  trace.setGlobalTracerProvider(provider)
  if (options.contextManager !== false) context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
  const loggerProvider = new LoggerProvider({
    processors: [new BatchLogRecordProcessor({ exporter: new OTLPLogExporter({ url: `${receiver.url}/v1/logs` }) })],
  })
  const meterProvider = new MeterProvider({
    readers: [
      new PeriodicExportingMetricReader({
        exporter: new OTLPMetricExporter({ url: `${receiver.url}/v1/metrics` }),
        exportIntervalMillis: 60_000,
      }),
    ],
  })
  if (options.logs !== false) logs.setGlobalLoggerProvider(loggerProvider)
  if (options.metrics !== false) metrics.setGlobalMeterProvider(meterProvider)
  cleanup(async () => {
    await provider.shutdown().catch(() => undefined)
    await loggerProvider.shutdown().catch(() => undefined)
    await meterProvider.shutdown().catch(() => undefined)
    trace.disable()
    metrics.disable()
    logs.disable()
    context.disable()
    diag.disable()
    await receiver.close()
  })
  return {
    receiver,
    batch,
    provider,
    diagnostics,
    tracer: provider.getTracer('my-agents', '1.0.0'),
    flush: async () => {
      await provider.forceFlush()
      await loggerProvider.forceFlush()
      await meterProvider.forceFlush()
    },
  }
}

/** Opens a span below another one, as instrumentations do: by the context, not by the active span. */
export function open(tracer: Tracer, name: string, attributes: Attributes = {}, parent?: Span | Context): Span {
  const parentContext =
    parent === undefined ? ROOT_CONTEXT : 'spanContext' in parent ? trace.setSpan(ROOT_CONTEXT, parent) : parent
  return tracer.startSpan(name, { attributes }, parentContext)
}

export const agentAttributes = (
  name: string,
  text = 'What is the weather in Oslo?',
  answer = 'Sunny.',
): Attributes => ({
  'gen_ai.operation.name': 'invoke_agent',
  'gen_ai.agent.name': name,
  'gen_ai.input.messages': JSON.stringify([{ role: 'user', parts: [{ type: 'text', content: text }] }]),
  'gen_ai.output.messages': JSON.stringify([{ role: 'assistant', parts: [{ type: 'text', content: answer }] }]),
})

export const chatAttributes = (answer = 'Sunny.'): Attributes => ({
  'gen_ai.operation.name': 'chat',
  'gen_ai.request.model': 'gpt-test',
  'gen_ai.response.id': 'resp_1',
  'gen_ai.output.messages': JSON.stringify([{ role: 'assistant', parts: [{ type: 'text', content: answer }] }]),
})

export const toolAttributes = (name: string): Attributes => ({
  'gen_ai.operation.name': 'execute_tool',
  'gen_ai.tool.name': name,
  'gen_ai.tool.call.id': `call_${name}`,
  'gen_ai.tool.call.arguments': '{"location":"Oslo"}',
  'gen_ai.tool.call.result': '{"temperatureC":4}',
})

/** A complete run in the GenAI conventions: an agent, a tool, a chat. */
export function runAgent(tracer: Tracer, name = 'weather-agent', parent?: Span | Context): Span {
  const agent = open(tracer, `invoke_agent ${name}`, agentAttributes(name), parent)
  open(tracer, 'execute_tool weather', toolAttributes('weather'), agent).end()
  open(tracer, 'chat gpt-test', chatAttributes(), agent).end()
  agent.end()
  return agent
}

/** A code scorer that runs while the span is ending. */
export function codeScorer(id: string, definition: Partial<ScorerDefinition> = {}): Scorer {
  return defineScorer({
    id,
    description: 'Test.',
    kind: 'code',
    inline: true,
    assess: () => ({ status: 'scored', value: 1, explanation: 'because' }),
    ...definition,
  })
}

/** A scorer that takes some time, as judges do, without asking a model. */
export function judgeScorer(id: string, definition: Partial<ScorerDefinition> = {}): Scorer {
  return defineScorer({
    id,
    description: 'Test.',
    kind: 'judge',
    judge: {
      model: 'test/judge',
      priced: true,
      estimate: () => ({ calls: 1, tokens: 100, costUsd: 0.001 }),
      unavailable: () => undefined,
    },
    assess: async () => {
      await new Promise((resolve) => setTimeout(resolve, 5))
      return {
        status: 'scored',
        value: 0.75,
        explanation: 'it fits',
        judge: { model: 'judge-1', calls: 1, usage: { inputTokens: 90, outputTokens: 10 }, costUsd: 0.0005 },
      }
    },
    ...definition,
  })
}

/** The two sums that always hold. */
export function expectBalanced(ledger: LedgerSnapshot): void {
  const { seen, closed, open: stillOpen, evicted } = ledger.runs
  expect(seen).toBe(closed + stillOpen + evicted)
  for (const { offered, scored, skipped, failed, pending, reasons } of Object.values(ledger.scorers)) {
    expect(offered).toBe(scored + skipped + failed + pending)
    expect(pending).toBeGreaterThanOrEqual(0)
    expect(Object.values(reasons).reduce((sum, count) => sum + count, 0)).toBe(skipped + failed)
  }
}

/** Scorers, and options that differ from the defaults. */
export type ScoringUnderTest = Partial<ScoringOptions> & Pick<ScoringOptions, 'scorers'>

/** A pipeline that scores beside its exporter, and all of its evaluations. Its ledger must balance in the end. */
export async function createScoring(
  options: ScoringUnderTest,
  config: NonNullable<PipelineOptions['config']> = {},
): Promise<Pipeline & { readonly scoring: ScoringSpanProcessor; readonly seen: readonly Evaluation[] }> {
  const seen: Evaluation[] = []
  const scoring = new ScoringSpanProcessor({ onScore: (evaluation) => void seen.push(evaluation), ...options })
  const pipeline = await createPipeline({ processors: (batch) => [scoring, batch], config })
  cleanup(() => expectBalanced(scoring.ledger()))
  return { scoring, seen, ...pipeline }
}
