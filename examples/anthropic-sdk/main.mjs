import { scoring, sdk } from './telemetry.mjs'
import { traceAgent, traceTool } from '@arizeai/openinference-core'
import { AnthropicInstrumentation } from '@arizeai/openinference-instrumentation-anthropic'
import Anthropic from '@anthropic-ai/sdk'

new AnthropicInstrumentation().manuallyInstrument(Anthropic)

const anthropic = new Anthropic()

const getWeather = traceTool(({ city }) => ({ city, celsius: 4 }), { name: 'get_weather' })
const tools = [
  {
    name: 'get_weather',
    description: 'The weather in a city.',
    input_schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  },
]

const ask = traceAgent(
  async (question) => {
    const messages = [{ role: 'user', content: question }]
    for (;;) {
      const { content } = await anthropic.messages.create({
        model: 'claude-sonnet-4-5',
        max_tokens: 500,
        system: 'You answer questions about the weather.',
        messages,
        tools,
      })
      const calls = content.filter(({ type }) => type === 'tool_use')
      if (calls.length === 0) return content.map(({ text }) => text).join('')
      messages.push({ role: 'assistant', content })
      const results = []
      for (const { id, input } of calls) {
        results.push({ type: 'tool_result', tool_use_id: id, content: JSON.stringify(await getWeather(input)) })
      }
      messages.push({ role: 'user', content: results })
    }
  },
  { name: 'weather_agent' },
)

console.log(await ask('What is the weather in Oslo?'))

await scoring.forceFlush()
await sdk.shutdown()
