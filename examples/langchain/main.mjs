import { scoring, sdk } from './telemetry.mjs'
import * as CallbackManagerModule from '@langchain/core/callbacks/manager'
import { LangChainInstrumentation } from '@arizeai/openinference-instrumentation-langchain'
import { awaitAllCallbacks } from '@langchain/core/callbacks/promises'
import { tool } from '@langchain/core/tools'
import { ChatOpenAI } from '@langchain/openai'
import { createAgent } from 'langchain'
import { z } from 'zod'

new LangChainInstrumentation().manuallyInstrument(CallbackManagerModule)

const agent = createAgent({
  name: 'weather_agent',
  model: new ChatOpenAI({ model: 'gpt-5-mini' }),
  systemPrompt: 'You answer questions about the weather.',
  tools: [
    tool(({ city }) => JSON.stringify({ city, celsius: 4 }), {
      name: 'get_weather',
      description: 'The weather in a city.',
      schema: z.object({ city: z.string() }),
    }),
  ],
})

const { messages } = await agent.invoke({ messages: [{ role: 'user', content: 'What is the weather in Oslo?' }] })
console.log(messages.at(-1).content)

await awaitAllCallbacks() // callbacks may run after the answer: only now have all spans ended
await scoring.forceFlush()
await sdk.shutdown()
