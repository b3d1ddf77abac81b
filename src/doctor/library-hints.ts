/** How each library is made to write spans: what its users forget most. */
const HINTS: Readonly<Record<string, string>> = {
  '@mastra/core': 'Mastra writes spans through @mastra/otel-bridge: see docs/frameworks/mastra.md.',
  '@openai/agents': 'OpenAI Agents needs OpenInference: see docs/frameworks/openai-agents.md.',
  '@langchain/core': 'LangChain needs OpenInference: see docs/frameworks/langchain.md.',
  ai: 'The AI SDK needs registerTelemetry(new OpenTelemetry()) from version 7 on, and experimental_telemetry on each call before: see docs/frameworks/ai-sdk.md.',
  '@anthropic-ai/sdk': "Anthropic's SDK needs an instrumentation: see docs/frameworks/anthropic-sdk.md.",
  openai: "OpenAI's SDK needs an instrumentation: see docs/frameworks/openai-sdk.md.",
}

/**
 * What to do where a library of agents or models was loaded and no run was seen.
 *
 * @param packages names of loaded packages, with their versions
 * @returns `undefined` if none of the libraries that we know was loaded
 */
export function hintsFor(packages: Readonly<Record<string, string>>): string | undefined {
  const [name] = Object.keys(HINTS).filter((each) => packages[each] !== undefined)
  return name === undefined ? undefined : `Run an agent. ${HINTS[name]}`
}
