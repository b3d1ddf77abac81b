/**
 * Runs a program without a key: `node examples/offline.mjs node examples/ai-sdk/main.mjs`. A scripted model on loopback answers
 * instead of OpenAI and Anthropic. Spans are printed, or sent to OTEL_EXPORTER_OTLP_ENDPOINT if it is set.
 */
import { spawn } from 'node:child_process'
import { createScriptedOpenAIServer } from 'spanscore/testing'
import { startScriptedAnthropic } from './scripted-anthropic.mjs'

const openai = await createScriptedOpenAIServer(({ toolResults }) =>
  toolResults.length > 0
    ? 'It is 4 degrees in Oslo.'
    : { toolCalls: [{ name: 'get_weather', arguments: { city: 'Oslo' } }] },
)
const anthropic = await startScriptedAnthropic()

const [command, ...args] = process.argv.slice(2)
const program = spawn(command, args, {
  stdio: 'inherit',
  env: {
    ...(process.env.OTEL_EXPORTER_OTLP_ENDPOINT === undefined && {
      OTEL_TRACES_EXPORTER: 'console',
      OTEL_LOGS_EXPORTER: 'none',
      OTEL_METRICS_EXPORTER: 'none',
    }),
    ...process.env,
    OPENAI_API_KEY: 'scripted',
    OPENAI_BASE_URL: openai.url,
    ANTHROPIC_API_KEY: 'scripted',
    ANTHROPIC_BASE_URL: anthropic.url,
  },
})
program.on('exit', async (code) => {
  await openai.close()
  anthropic.close()
  process.exitCode = code ?? 1
})
