/**
 * Records the example run of the page: agents of the AI SDK with its own telemetry, whose model and judge are scripted, scored by the
 * built service. Writes `server/page/example-run.json`.
 *
 *     npm run build && node scripts/record-example.ts
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { createOpenAI } from '@ai-sdk/openai'
import { OpenTelemetry } from '@ai-sdk/otel'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { resourceFromAttributes } from '@opentelemetry/resources'
import { NodeSDK } from '@opentelemetry/sdk-node'
import { BatchSpanProcessor } from '@opentelemetry/sdk-trace'
import { registerTelemetry, stepCountIs, tool, ToolLoopAgent } from 'ai'
import { createScriptedOpenAIServer } from 'spanscore/testing'
import type { ScriptedReply, ScriptedRequest } from 'spanscore/testing'
import { z } from 'zod'

import { startJudge } from '../server/test/browser/judge.ts'
import { startService } from '../server/test/browser/service-process.ts'
import type { ServiceProcess } from '../server/test/browser/service-process.ts'

const QUESTION = 'It arrived broken. Order A-404. Please refund it, and tell me when the money arrives.'
const POLICY_QUESTION = 'May an order be refunded twice?'

/** Durations of tools, so that the run looks like one that waits for other services. */
const pause = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds))

/** A reply that calls a tool. */
const call = (name: string, args: unknown): ScriptedReply => ({
  toolCalls: [{ name, arguments: args }],
  delayMs: 320,
})

function answer({ userText, toolResults }: ScriptedRequest): ScriptedReply {
  const turn = toolResults.length
  if (userText === POLICY_QUESTION) {
    return turn === 0
      ? call('search_policies', { query: 'second refund of an order' })
      : { text: 'No: an order is refunded once.', delayMs: 260 }
  }
  const calls = [
    call('find_order', { orderId: 'A-404' }),
    call('refund_order', { orderId: 'A-404', amount: '89,90' }),
    call('refund_order', { orderId: 'A-404', amount: 89.9 }),
    call('ask_policy_agent', { question: POLICY_QUESTION }),
  ]
  return (
    calls[turn] ?? {
      text: 'I am sorry that your helmet arrived broken. I have refunded 89.90 EUR to your card. The money arrives within two days.',
      delayMs: 540,
    }
  )
}

const folder = mkdtempSync(join(tmpdir(), 'spanscore-example-'))
const judge = await startJudge()
const model = await createScriptedOpenAIServer(answer)
const config = join(import.meta.dirname, '../server/test/browser/spanscore.config.mjs')
const service = await startService(folder, { TEST_JUDGE_URL: judge.url }, ['--config', config])
try {
  await runAgent(service.otlpUrl, model.url)
  const example = await readExample(service)
  writeFileSync(
    join(import.meta.dirname, '../server/page/example-run.json'),
    `${JSON.stringify(example, undefined, 2)}\n`,
  )
  console.log(`${example.spanIds.length} spans, ${example.scores.length} scores`)
} finally {
  await service[Symbol.asyncDispose]()
  await judge.close()
  await model.close()
  rmSync(folder, { recursive: true, force: true })
}

async function runAgent(otlpUrl: string, modelUrl: string): Promise<void> {
  const exporter = new OTLPTraceExporter({ url: `${otlpUrl}/v1/traces` })
  const sdk = new NodeSDK({
    autoDetectResources: false,
    resource: resourceFromAttributes({ 'service.name': 'bicycle-shop (example)', 'service.version': '1.5.0' }),
    spanProcessors: [new BatchSpanProcessor({ exporter })],
  })
  sdk.start()
  registerTelemetry(new OpenTelemetry())
  const gpt = createOpenAI({ baseURL: modelUrl, apiKey: 'scripted' }).chat('gpt-5-mini')
  const policyAgent = new ToolLoopAgent({
    model: gpt,
    instructions: 'You know the rules of the shop. Look them up before you answer.',
    tools: {
      search_policies: tool({
        description: 'Search the rules of the shop.',
        inputSchema: z.object({ query: z.string() }),
        execute: async () => {
          await pause(90)
          return ['An order is refunded once.', 'Refunds take three to five days.']
        },
      }),
    },
    telemetry: { functionId: 'policy-agent' },
  })
  const supportAgent = new ToolLoopAgent({
    model: gpt,
    instructions:
      'You are the support agent of a bicycle shop. Look an order up before you refund it. Be polite, and promise nothing that a tool has not confirmed.',
    stopWhen: stepCountIs(8),
    tools: {
      find_order: tool({
        description: 'Look an order up by its number.',
        inputSchema: z.object({ orderId: z.string() }),
        execute: async ({ orderId }) => {
          await pause(140)
          return { orderId, status: 'delivered', total: 89.9, currency: 'EUR' }
        },
      }),
      refund_order: tool({
        description: 'Refund an order that was looked up before.',
        inputSchema: z.object({ orderId: z.string(), amount: z.number() }),
        execute: async ({ orderId }): Promise<{ readonly refunded: boolean }> => {
          await pause(210)
          throw new Error(`payment service: order ${orderId} was refunded before`)
        },
      }),
      ask_policy_agent: tool({
        description: 'Ask the agent that knows the rules of the shop.',
        inputSchema: z.object({ question: z.string() }),
        execute: async ({ question }) => ({ answer: (await policyAgent.generate({ prompt: question })).text }),
      }),
    },
    telemetry: { functionId: 'support-agent' },
  })
  await supportAgent.generate({
    messages: [
      { role: 'user', content: 'Hello, I bought a helmet last week.' },
      { role: 'assistant', content: 'Hello! How can I help you with your helmet?' },
      { role: 'user', content: QUESTION },
    ],
  })
  await sdk.shutdown()
}

interface StoredRun {
  readonly id: string
  readonly trace_id: string
  readonly scores: readonly { readonly scorer: string; readonly status: string }[]
}

interface Details {
  readonly scores: readonly { readonly evaluation: { readonly scorer: { readonly id: string } } }[]
  readonly spans: readonly { readonly spanId: string }[]
}

/** The run with its spans in OTLP/JSON, as the page takes it in, and what the scorers say. */
async function readExample(from: ServiceProcess) {
  const scorers = 5
  for (let tries = 0; tries < 100; tries++) {
    const [run] = (await from.read<{ runs: readonly StoredRun[] }>('/api/runs?agent=support-agent')).runs
    if (run !== undefined && run.scores.length === scorers) {
      const { scores, spans } = await from.read<Details>(`/api/run?id=${encodeURIComponent(run.id)}`)
      const response = await fetch(`${from.origin}/api/labels/runs?scorer=answer_present`, {
        headers: { authorization: `Bearer ${from.token}` },
      })
      const lines = (await response.text()).split('\n').filter((line) => line.includes('"resourceSpans"'))
      // Stack traces contain paths of this machine, which are useless elsewhere.
      const text = lines.join('\n').replaceAll(/(?:\\n)? +at [^"]*?(?=")/g, '')
      const resourceSpans = text.split('\n').flatMap((line) => toRequest(JSON.parse(line)).resourceSpans)
      return {
        runId: run.id,
        traceId: run.trace_id,
        spanIds: spans.map(({ spanId }) => spanId),
        otlp: { resourceSpans },
        scores,
      }
    }
    await pause(100)
  }
  throw new Error('expected the run to be scored within ten seconds, got no scores')
}

function toRequest(value: unknown): { readonly resourceSpans: readonly unknown[] } {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the page wrote it
  return value as { readonly resourceSpans: readonly unknown[] }
}
