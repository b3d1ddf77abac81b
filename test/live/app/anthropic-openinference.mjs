import { AnthropicInstrumentation } from '@arizeai/openinference-instrumentation-anthropic'

export { traceAgent, traceTool } from './openinference-loop.mjs'

export function instrument(Anthropic) {
  new AnthropicInstrumentation().manuallyInstrument(Anthropic)
}
