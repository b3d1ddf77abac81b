import { createOpenAI } from '@ai-sdk/openai'
import { OpenTelemetry } from '@ai-sdk/otel'
import { registerTelemetry, tool, ToolLoopAgent } from 'ai'
import { z } from 'zod'

import { createScriptedOpenAIServer } from '../../src/testing/scripted-openai-server.ts'

let isRegistered = false

/** A real agent of the AI SDK, whose model calls this tool and then answers. */
export async function askWeatherAgent(calledTool: string): Promise<string> {
  // Its tracer remains that of the provider that is there now, so each test file has only one provider.
  if (!isRegistered) registerTelemetry(new OpenTelemetry())
  isRegistered = true
  await using server = await createScriptedOpenAIServer([
    { toolCalls: [{ name: calledTool, arguments: { location: 'Oslo' } }] },
    { text: 'It is 4 degrees in Oslo.' },
  ])
  const provider = createOpenAI({ apiKey: 'test', baseURL: server.url })
  const lookUp = tool({ inputSchema: z.object({ location: z.string() }), execute: () => ({ temperatureC: 4 }) })
  const agent = new ToolLoopAgent({
    model: provider.chat('gpt-test'),
    instructions: 'You answer questions about the weather.',
    tools: { 'weather-tool': lookUp, 'search-tool': lookUp },
    telemetry: { functionId: 'weather-agent' },
  })
  const { text } = await agent.generate({ prompt: 'What is the weather in Oslo?' })
  return text
}
