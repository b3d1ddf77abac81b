import { traceAgent as wrapAgent, traceTool as wrapTool } from '@arizeai/openinference-core'

/** OpenInference's spans for the agent of a loop by hand. */
export function traceAgent(run, loop) {
  return wrapAgent(() => loop(), { name: run.agent, processInput: () => ({ 'input.value': run.input }) })()
}

/** And for its tools. */
export function traceTool({ name, args }, execute) {
  return wrapTool((_args) => execute(), { name })(args)
}
