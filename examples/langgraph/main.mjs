import { scoring, sdk } from './telemetry.mjs'
import * as CallbackManagerModule from '@langchain/core/callbacks/manager'
import { LangChainInstrumentation } from '@arizeai/openinference-instrumentation-langchain'

import { awaitAllCallbacks } from '@langchain/core/callbacks/promises'
import { SystemMessage } from '@langchain/core/messages'
import { tool } from '@langchain/core/tools'
import { END, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'
import { ToolNode, toolsCondition } from '@langchain/langgraph/prebuilt'
import { ChatOpenAI } from '@langchain/openai'
import { z } from 'zod'

new LangChainInstrumentation().manuallyInstrument(CallbackManagerModule)

const getWeather = tool(({ city }) => JSON.stringify({ city, celsius: 4 }), {
  name: 'get_weather',
  description: 'The weather in a city.',
  schema: z.object({ city: z.string() }),
})

const model = new ChatOpenAI({ model: 'gpt-5-mini' }).bindTools([getWeather])
const instructions = new SystemMessage('You answer questions about the weather.')

// region graph
const graph = new StateGraph(MessagesAnnotation)
  .addNode('model', async ({ messages }) => ({ messages: [await model.invoke([instructions, ...messages])] }))
  .addNode('tools', new ToolNode([getWeather]))
  .addEdge(START, 'model')
  .addConditionalEdges('model', toolsCondition, ['tools', END])
  .addEdge('tools', 'model')
  .compile({ name: 'weather_agent' })
// endregion

const { messages } = await graph.invoke({ messages: [{ role: 'user', content: 'What is the weather in Oslo?' }] })
console.log(messages.at(-1).content)

await awaitAllCallbacks()
await scoring.forceFlush()
await sdk.shutdown()
