import { scoring, sdk } from './telemetry.mjs'
import { openai } from '@ai-sdk/openai'
import { z } from 'zod'
// region register
import { OpenTelemetry } from '@ai-sdk/otel'
import { registerTelemetry, tool, ToolLoopAgent } from 'ai'

registerTelemetry(new OpenTelemetry())
// endregion

const agent = new ToolLoopAgent({
  model: openai('gpt-5-mini'),
  instructions: 'You answer questions about the weather.',
  tools: {
    get_weather: tool({
      description: 'The weather in a city.',
      inputSchema: z.object({ city: z.string() }),
      execute: ({ city }) => ({ city, celsius: 4 }),
    }),
  },
  telemetry: { functionId: 'weather_agent' },
})

const { text } = await agent.generate({ prompt: 'What is the weather in Oslo?' })
console.log(text)

await scoring.forceFlush()
await sdk.shutdown()
