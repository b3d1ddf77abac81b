import { buildRuns } from '../../src/runs/build-runs.ts'
import type { SourceSpan } from '../../src/spans/source-span.ts'
import { compareScenario } from '../corpus/compare.ts'
import { readScenario } from '../corpus/load.ts'
import type { Transformation } from './transformation.ts'

/** Libraries whose names of scopes are needed: nothing else shows them, or how their spans are to be read. */
const NEEDS_SCOPES =
  /^(?:claude-code|gemini-cli|github-copilot-cli|qwen-code|laminar|voltagent|openlit|python-openlit|(?:python-)?traceloop|python-llama-index-otel|python-logfire-(?:anthropic|chat|responses))-/

/** A file that lost the names of scopes. */
export const lostScopes: Transformation = {
  name: 'without the names of scopes',
  exceptions: [
    {
      library: /^ai-7.*otel|^langfuse-vercel/,
      scenario: /^15/,
      why: 'generated objects have no steps, which show the AI SDK',
    },
    {
      library: /^openinference-vercel-3/,
      scenario: /./,
      why: "the processor's own spans have OpenInference's kinds: their status and errors",
    },
    {
      library: /openinference-anthropic-bare/,
      scenario: /stream|beside/,
      why: 'streams and their parts are known as copies by their client',
    },
    {
      library: /^(?:python-)?google-adk/,
      scenario: /^(?:09b|11)/,
      why: 'hand-overs and failures are known by the library',
    },
    {
      library: /^python-otel-genai-langchain-graphs/,
      scenario: /^(?:fan|router|swarm|super)/,
      why: 'a graph is known by its library',
    },
    { library: /^python-(?:pipecat|agent-framework-flows)/, scenario: /./, why: 'spans that only their scope shows' },
    {
      library: /^python-openinference-llama-index-chat/,
      scenario: /stream/,
      why: 'a span in a trace of its own that is no model call',
    },
    { library: /^pydantic-ai/, scenario: /^15/, why: 'structured answers' },
    { library: /^python-any-agent-google/, scenario: /^01/, why: "spans of ADK's own tracer" },
    { library: /^python-openinference-beeai-0\.1\.6/, scenario: /./, why: 'spans of events' },
    {
      library: /^python-openinference-google-genai/,
      scenario: /./,
      why: 'calls that the client makes by itself are in its reply',
    },
    { library: /^python-openinference-pydantic-ai-0\.1\.[36]/, scenario: /./, why: "the agent's name" },
    { library: /^python-openinference-smolagents/, scenario: /^11b/, why: 'no span shows the library' },
    { library: /^python-openinference-strands-agents/, scenario: /^05/, why: 'the failed tool' },
    {
      library: /^python-otel-(?:genai-)?openai-agents/,
      scenario: /^(?:09b|\d)/,
      why: 'hand-overs; instructions of the Responses API',
    },
    {
      library: /^python-otel-genai-langchain-structured-/,
      scenario: /./,
      why: 'a tool that only takes the answer is known by the library',
    },
    { library: /^python-strands-agents-0\.1\.4/, scenario: /^03/, why: 'the tool that failed' },
  ],
  check(scenario) {
    if (NEEDS_SCOPES.test(scenario.library)) return undefined
    const { spans, logs } = readScenario(scenario)
    const pathsOf = (given: readonly SourceSpan[]) =>
      compareScenario(scenario, buildRuns(given, { logs })).map(({ path }) => path)
    const known = new Set(pathsOf(spans))
    const paths = pathsOf(spans.map((span) => ({ ...span, scope: { name: '' } }))).filter((path) => !known.has(path))
    return paths.length === 0 ? undefined : paths
  },
}
