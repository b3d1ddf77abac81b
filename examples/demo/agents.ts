/** The agents of the demo: real `ToolLoopAgent`s with real tools. Only the answers of their model are scripted. */
import { stepCountIs, tool, ToolLoopAgent } from 'ai'
import type { LanguageModel, ModelMessage } from 'ai'
import { z } from 'zod'

const temperatures: Record<string, number> = { Tokyo: 22, Oslo: 4, Lima: 19, Paris: 15, Bergen: 7 }

const weather = tool({
  description: 'Get the current weather at a place.',
  inputSchema: z.object({ location: z.string() }),
  execute: ({ location }) => ({ location, temperatureC: temperatures[location] ?? 18, condition: 'sunny' }),
})

const search = tool({
  description: 'Search the web for general information.',
  inputSchema: z.object({ query: z.string() }),
  execute: ({ query }) => ({ query, results: [`A travel blog about ${query}`, `An encyclopedia page on ${query}`] }),
})

const order = tool({
  description: 'Look an order up by its number.',
  inputSchema: z.object({ orderId: z.string() }),
  execute: ({ orderId }) => ({ orderId, status: 'delivered', total: 49.9 }),
})

const refund = tool({
  description: 'Refund an order that was looked up before.',
  inputSchema: z.object({ orderId: z.string(), reason: z.string() }),
  execute: ({ orderId }) => {
    if (orderId === 'A-404') throw new Error('payment service: order A-404 is already refunded')
    return { orderId, refunded: true }
  },
})

/** All agents of the demo, which share one model. */
export interface DemoAgents {
  readonly weather: (prompt: string) => Promise<string>
  readonly support: (prompt: string) => Promise<string>
  /** The same agent in a conversation. */
  readonly chat: (messages: ModelMessage[]) => Promise<string>
  readonly trip: (prompt: string) => Promise<string>
  /** Streams its answer. */
  readonly summary: (prompt: string) => Promise<string>
}

/** Creates the agents. `telemetry.functionId` is what the AI SDK records as `gen_ai.agent.name`. */
export function createDemoAgents(model: LanguageModel): DemoAgents {
  const weatherAgent = new ToolLoopAgent({
    model,
    instructions: 'You are a weather assistant. Look the weather up before you answer, and answer in one sentence.',
    tools: { 'weather-tool': weather, 'search-tool': search },
    maxRetries: 0,
    telemetry: { functionId: 'weather-agent' },
  })
  const supportAgent = new ToolLoopAgent({
    model,
    instructions:
      'You are a support agent. Look the order up before a refund. Be polite, and never promise what a tool has not confirmed.',
    tools: { 'order-tool': order, 'refund-tool': refund },
    stopWhen: stepCountIs(6),
    telemetry: { functionId: 'support-agent' },
  })
  const tripAgent = new ToolLoopAgent({
    model,
    instructions: 'You plan trips. Ask the weather agent about the weather; do not guess it.',
    tools: {
      'ask-weather-agent': tool({
        description: 'Ask the weather agent a question.',
        inputSchema: z.object({ question: z.string() }),
        execute: async ({ question }, { abortSignal }) => {
          const answer = await weatherAgent.generate({ prompt: question, ...(abortSignal && { abortSignal }) })
          return { answer: answer.text }
        },
      }),
    },
    telemetry: { functionId: 'trip-agent' },
  })
  const summaryAgent = new ToolLoopAgent({
    model,
    instructions: 'Summarize the text you are given in one or two sentences. Add nothing of your own.',
    telemetry: { functionId: 'summary-agent' },
  })
  return {
    weather: async (prompt) => (await weatherAgent.generate({ prompt })).text,
    support: async (prompt) => (await supportAgent.generate({ prompt })).text,
    chat: async (messages) => (await supportAgent.generate({ messages })).text,
    trip: async (prompt) => (await tripAgent.generate({ prompt })).text,
    summary: async (prompt) => await (await summaryAgent.stream({ prompt })).text,
  }
}
