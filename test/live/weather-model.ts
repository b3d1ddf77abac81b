import { createScriptedOpenAIServer } from '../../src/testing/scripted-openai-server.ts'
import type { ScriptedOpenAIServer } from '../../src/testing/scripted-openai-server.ts'

/** A model that asks for the weather in Oslo once, and then answers. */
export function startWeatherModel(): Promise<ScriptedOpenAIServer> {
  return createScriptedOpenAIServer(({ toolResults }) =>
    toolResults.length > 0
      ? 'It is 4 degrees in Oslo.'
      : { toolCalls: [{ name: 'get_weather', arguments: { city: 'Oslo' } }] },
  )
}

/** The environment variables with which OpenAI's clients find that model. */
export function modelVariables({ url }: ScriptedOpenAIServer): Record<string, string> {
  return { OPENAI_API_KEY: 'scripted', OPENAI_BASE_URL: url }
}
