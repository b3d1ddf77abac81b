/** What lets the examples run with no key and no server: a scripted model, and spans on the console. */
import { createScriptedOpenAIServer } from 'spanscore/testing'

if (process.env.OTEL_EXPORTER_OTLP_ENDPOINT === undefined) {
  process.env.OTEL_TRACES_EXPORTER = 'console'
  process.env.OTEL_LOGS_EXPORTER = 'none'
  process.env.OTEL_METRICS_EXPORTER = 'none'
}

const hasKey = (process.env.OPENAI_API_KEY ?? '') !== ''

const server = hasKey
  ? undefined
  : await createScriptedOpenAIServer(({ toolResults }) =>
      toolResults.length > 0
        ? 'It is 4 degrees in Oslo.'
        : { toolCalls: [{ name: 'get_weather', arguments: { city: 'Oslo' } }] },
    )

/** For the OpenAI client: yours where `OPENAI_API_KEY` is set, else the scripted model. */
export const openaiOptions = server === undefined ? {} : { baseURL: server.url, apiKey: 'scripted' }

/** Ends the scripted model. */
export async function close() {
  await server?.close()
}
