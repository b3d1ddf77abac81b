import { scoring, sdk } from './telemetry.mjs'
import { traceAgent, traceTool } from '@arizeai/openinference-core'
import { OpenAIInstrumentation } from '@arizeai/openinference-instrumentation-openai'
import OpenAI from 'openai'

new OpenAIInstrumentation().manuallyInstrument(OpenAI)
const openai = new OpenAI()

const getWeather = traceTool(({ city }) => ({ city, celsius: 4 }), { name: 'get_weather' })
const tools = [
  {
    type: 'function',
    function: {
      name: 'get_weather',
      description: 'The weather in a city.',
      parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
    },
  },
]

const ask = traceAgent(
  async (question) => {
    const messages = [
      { role: 'system', content: 'You answer questions about the weather.' },
      { role: 'user', content: question },
    ]
    for (;;) {
      const { choices } = await openai.chat.completions.create({ model: 'gpt-5-mini', messages, tools })
      const [{ message }] = choices
      if (!message.tool_calls?.length) return message.content
      messages.push(message)
      for (const call of message.tool_calls) {
        const content = JSON.stringify(await getWeather(JSON.parse(call.function.arguments)))
        messages.push({ role: 'tool', tool_call_id: call.id, content })
      }
    }
  },
  { name: 'weather_agent' },
)

console.log(await ask('What is the weather in Oslo?'))

await scoring.forceFlush()
await sdk.shutdown()
