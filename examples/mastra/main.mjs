import { scoring, sdk } from './telemetry.mjs'
import { openai } from '@ai-sdk/openai'
import { Agent } from '@mastra/core/agent'
import { Mastra } from '@mastra/core/mastra'
import { createTool } from '@mastra/core/tools'
import { Observability } from '@mastra/observability'
import { OtelBridge } from '@mastra/otel-bridge'
import { z } from 'zod'

const weather = new Agent({
  id: 'weather_agent',
  name: 'weather_agent',
  instructions: 'You answer questions about the weather.',
  model: openai.chat('gpt-5-mini'),
  tools: {
    get_weather: createTool({
      id: 'get_weather',
      description: 'The weather in a city.',
      inputSchema: z.object({ city: z.string() }),
      execute: ({ city }) => Promise.resolve({ city, celsius: 4 }),
    }),
  },
})

const mastra = new Mastra({
  agents: { weather },
  observability: new Observability({ configs: { default: { serviceName: 'my-agents', bridge: new OtelBridge() } } }),
})

const { text } = await mastra.getAgent('weather').generate('What is the weather in Oslo?')
console.log(text)

await scoring.forceFlush()
await sdk.shutdown()
