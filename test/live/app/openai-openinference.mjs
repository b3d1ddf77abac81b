import { OpenAIInstrumentation } from '@arizeai/openinference-instrumentation-openai'

export { traceAgent, traceTool } from './openinference-loop.mjs'

export function instrument(OpenAI) {
  new OpenAIInstrumentation().manuallyInstrument(OpenAI)
}
