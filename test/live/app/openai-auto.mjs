import { createRequire } from 'node:module'

import { withSpan } from './openai-semconv.mjs'

export { traceTool } from './openai-semconv.mjs'

/** The package as `@opentelemetry/auto-instrumentations-node` patches it: where it is required. */
export function load() {
  return createRequire(import.meta.url)('openai')
}

/** The agent's span has its name alone: messages are log records of the model's calls. */
export function traceAgent(run, loop) {
  const attributes = { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': run.agent }
  return withSpan(`invoke_agent ${run.agent}`, attributes, loop, () => ({}))
}
