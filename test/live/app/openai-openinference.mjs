import { traceAgent as wrapAgent, traceTool as wrapTool } from '@arizeai/openinference-core'
import { OpenAIInstrumentation } from '@arizeai/openinference-instrumentation-openai'

export function instrument(OpenAI) {
  new OpenAIInstrumentation().manuallyInstrument(OpenAI)
}

export function traceAgent(run, loop) {
  return wrapAgent(() => loop(), { name: run.agent, processInput: () => ({ 'input.value': run.input }) })()
}

export function traceTool({ name, args }, execute) {
  return wrapTool((_args) => execute(), { name })(args)
}
