import { openai } from '@ai-sdk/openai'
import { tool, ToolLoopAgent } from 'ai'
import { after } from 'next/server'
import { z } from 'zod'
import { getScoring } from '../../../lib/scoring.js'

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

export async function POST(request) {
  const { text } = await agent.generate({ prompt: await request.text() })
  after(() => getScoring().forceFlush()) // scores leave after the response
  return new Response(text)
}
