import { scoring, sdk } from './telemetry.mjs'
import { trace } from '@opentelemetry/api'
import * as agents from '@openai/agents'
import { OpenAIAgentsInstrumentation } from '@arizeai/openinference-instrumentation-openai-agents'
import { z } from 'zod'

new OpenAIAgentsInstrumentation({ tracerProvider: trace.getTracerProvider() }).manuallyInstrument(agents)

const agent = new agents.Agent({
  name: 'weather_agent',
  instructions: 'You answer questions about the weather.',
  model: 'gpt-5-mini',
  tools: [
    agents.tool({
      name: 'get_weather',
      description: 'The weather in a city.',
      parameters: z.object({ city: z.string() }),
      execute: ({ city }) => JSON.stringify({ city, celsius: 4 }),
    }),
  ],
})

const { finalOutput } = await agents.run(agent, 'What is the weather in Oslo?')
console.log(finalOutput)

await agents.getGlobalTraceProvider().forceFlush()
await scoring.forceFlush()
await sdk.shutdown()
