import { APPROVAL, CUT_OFF, HANDOFF, SCENARIOS } from './scenarios.ts'
import type { LiveScenario } from './scenarios.ts'

/** An application with one library, traced in one way. */
export interface Library {
  /** The name of the library, such as `AI SDK 7`. */
  readonly name: string
  /** A module of `app/`. */
  readonly program: string
  /** The value of the variable `VARIANT` in the program. */
  readonly variant?: string
  /** Which of the modules `app/sdk-….mjs` starts OpenTelemetry. @default 'node' */
  readonly sdk?: 'node' | 'auto' | 'langfuse' | 'traceloop' | 'voltagent'
  /** Variables of the environment. @default none */
  readonly environment?: Readonly<Record<string, string>>
  /** Packages beside OpenTelemetry's. */
  readonly packages: Readonly<Record<string, string>>
  /** Arguments of `node`. @default none */
  readonly nodeArguments?: string[]
  /** Facts that the library's spans do not hold, as the recordings name them: `agentName`, `call0.result`. @default none */
  readonly notRecorded?: readonly string[]
  /** True if the spans hold a text of the library instead of a tool's error. @default false */
  readonly hidesErrors?: true
  /** The error if the library cannot be installed or started. The test fails if this error no longer occurs. @default none */
  readonly fails?: RegExp
  /** @default the scenarios of every program */
  readonly scenarios?: readonly LiveScenario[]
}

const OPENTELEMETRY_2 = {
  '@opentelemetry/api': '1.9.1',
  '@opentelemetry/exporter-trace-otlp-http': '0.223.1',
  '@opentelemetry/sdk-node': '0.223.0',
  '@opentelemetry/sdk-trace-base': '2.12.1',
  zod: '4.6.7',
}

const ai5 = { ...OPENTELEMETRY_2, ai: '5.0.277', '@ai-sdk/openai': '2.0.131' }
const ai6 = { ...OPENTELEMETRY_2, ai: '6.0.326', '@ai-sdk/openai': '3.0.141' }
const ai7 = { ...OPENTELEMETRY_2, ai: '7.0.173', '@ai-sdk/openai': '4.0.118', '@ai-sdk/otel': '1.0.173' }

const langchainPackages = {
  ...OPENTELEMETRY_2,
  '@arizeai/openinference-instrumentation-langchain': '4.1.1',
  '@langchain/core': '1.4.0',
  '@langchain/langgraph': '1.7.3',
  '@langchain/openai': '1.6.0',
  '@langfuse/langchain': '5.11.1',
  '@langfuse/otel': '5.11.1',
  '@opentelemetry/context-async-hooks': '2.12.0',
  '@opentelemetry/exporter-trace-otlp-proto': '0.223.1',
  '@traceloop/node-server-sdk': '0.27.0',
  langchain: '1.5.14',
  langsmith: '0.12.0',
}

type Tracing = 'OpenInference' | 'Traceloop' | 'Langfuse' | 'LangSmith'

const TRACING: Readonly<Record<Tracing, Pick<Library, 'sdk' | 'environment'>>> = {
  OpenInference: {},
  Traceloop: { sdk: 'traceloop', environment: { LIVE_INSTRUMENTS: 'langchain' } },
  Langfuse: {
    sdk: 'langfuse',
    environment: { LANGFUSE_PUBLIC_KEY: 'pk', LANGFUSE_SECRET_KEY: 'sk', LANGFUSE_BASE_URL: 'http://127.0.0.1:9' },
  },
  LangSmith: {
    environment: {
      LANGSMITH_TRACING: 'true',
      LANGSMITH_TRACING_MODE: 'otel',
      LANGSMITH_API_KEY: 'scripted',
    },
  },
}

function langchain(kind: string, tracing: Tracing, more: Partial<Library> = {}): Library {
  return {
    name: `${kind} by ${tracing}`,
    program: 'langchain',
    variant: `${kind}/${tracing.toLowerCase()}`,
    packages: langchainPackages,
    ...TRACING[tracing],
    ...more,
  }
}

const openaiPackages = {
  ...OPENTELEMETRY_2,
  '@arizeai/openinference-core': '2.7.1',
  '@arizeai/openinference-instrumentation-openai': '4.2.7',
  '@traceloop/node-server-sdk': '0.27.0',
  openai: '7.57.0',
}

const anthropicPackages = {
  ...OPENTELEMETRY_2,
  '@anthropic-ai/sdk': '1.12.0',
  '@arizeai/openinference-core': '2.7.1',
  '@arizeai/openinference-instrumentation-anthropic': '0.2.8',
  '@traceloop/node-server-sdk': '0.27.0',
}

const openaiAgentsPackages = {
  ...OPENTELEMETRY_2,
  '@arizeai/openinference-instrumentation-openai-agents': '0.2.15',
  '@openai/agents': '0.20.0',
  openai: '7.57.0',
}

const mastraPackages = {
  ...OPENTELEMETRY_2,
  '@ai-sdk/openai': '4.0.118',
  '@mastra/core': '1.71.0',
  '@mastra/observability': '1.17.9',
  '@mastra/otel-bridge': '1.5.4',
}

const mcpPackages = {
  ...ai7,
  '@arizeai/openinference-core': '2.7.1',
  '@arizeai/openinference-instrumentation-mcp': '0.2.33',
  '@modelcontextprotocol/sdk': '1.32.2',
}

/** Strands requires exporters of this version as peers. */
const strandsPackages = {
  '@opentelemetry/api': '1.9.1',
  '@opentelemetry/exporter-trace-otlp-http': '0.219.0',
  '@opentelemetry/sdk-node': '0.219.0',
  '@opentelemetry/sdk-trace-base': '2.8.0',
  '@strands-agents/sdk': '1.19.0',
  openai: '6.49.0',
  zod: '4.6.7',
}

/** OpenTelemetry 3, which the instrumentation asks for. */
const openaiSemconvPackages = {
  '@opentelemetry/api': '1.10.0',
  '@opentelemetry/instrumentation': '0.300.0',
  '@opentelemetry/instrumentation-openai': '0.22.0',
  '@opentelemetry/sdk-node': '0.301.0',
  openai: '6.49.0',
  zod: '4.6.7',
}

const voltagentPackages = {
  ...ai6,
  '@opentelemetry/exporter-logs-otlp-http': '0.223.1',
  '@opentelemetry/sdk-logs': '0.223.1',
  '@voltagent/core': '2.10.0',
}
const genkitPackages = {
  ...OPENTELEMETRY_2,
  '@genkit-ai/compat-oai': '1.42.0',
  '@genkit-ai/core': '1.42.0',
  genkit: '1.42.0',
}
const adkPackages = { ...OPENTELEMETRY_2, '@google/adk': '2.0.0' }

const WITH_APPROVAL: readonly LiveScenario[] = [...SCENARIOS, APPROVAL]
const WITH_HANDOFF: readonly LiveScenario[] = [...WITH_APPROVAL, HANDOFF]

/** Every library that is run, the most popular ones first. */
export const LIBRARIES: readonly Library[] = [
  { name: 'AI SDK 7', program: 'ai7', packages: ai7, scenarios: [...WITH_APPROVAL, ...CUT_OFF] },
  { name: 'AI SDK 7, responses', program: 'ai7', variant: 'responses', packages: ai7 },
  { name: 'AI SDK 6', program: 'ai5', packages: ai6, scenarios: WITH_APPROVAL },
  { name: 'AI SDK 5', program: 'ai5', packages: ai5 },
  langchain('createAgent', 'OpenInference', { scenarios: WITH_APPROVAL }),
  langchain('createAgent', 'Traceloop', { scenarios: [...SCENARIOS, ...CUT_OFF] }),
  langchain('createAgent', 'Langfuse', { scenarios: WITH_APPROVAL }),
  langchain('createAgent', 'LangSmith'),
  langchain('createReactAgent', 'OpenInference'),
  langchain('createReactAgent', 'Traceloop'),
  langchain('createReactAgent', 'Langfuse'),
  langchain('createReactAgent', 'LangSmith'),
  langchain('StateGraph', 'OpenInference'),
  langchain('StateGraph', 'Traceloop', { notRecorded: ['agentName'] }),
  langchain('StateGraph', 'Langfuse'),
  langchain('StateGraph', 'LangSmith'),
  { name: 'OpenAI chat by OpenInference', program: 'openai', variant: 'chat/openinference', packages: openaiPackages },
  {
    name: 'OpenAI responses by OpenInference',
    program: 'openai',
    variant: 'responses/openinference',
    packages: openaiPackages,
  },
  {
    name: 'OpenAI chat by Traceloop',
    program: 'openai',
    variant: 'chat/traceloop',
    packages: openaiPackages,
    sdk: 'traceloop',
    environment: { LIVE_INSTRUMENTS: 'openAI' },
  },
  {
    name: 'OpenAI responses by Traceloop',
    notRecorded: ['systemPrompt'],
    program: 'openai',
    variant: 'responses/traceloop',
    packages: openaiPackages,
    sdk: 'traceloop',
    environment: { LIVE_INSTRUMENTS: 'openAI' },
  },
  {
    name: 'OpenAI Agents, responses',
    program: 'openai-agents',
    variant: 'responses',
    packages: openaiAgentsPackages,
    hidesErrors: true,
    scenarios: WITH_HANDOFF,
  },
  {
    name: 'OpenAI Agents, chat',
    program: 'openai-agents',
    variant: 'chat',
    packages: openaiAgentsPackages,
    hidesErrors: true,
    scenarios: WITH_HANDOFF,
  },
  {
    name: 'Mastra by OtelBridge',
    program: 'mastra',
    packages: mastraPackages,
    scenarios: [...WITH_APPROVAL, ...CUT_OFF],
  },
  {
    name: 'Anthropic tool runner',
    program: 'anthropic',
    variant: 'toolRunner/native',
    packages: anthropicPackages,
    notRecorded: ['agentName'],
  },
  {
    name: 'Anthropic loop',
    program: 'anthropic',
    variant: 'loop/native',
    packages: anthropicPackages,
    notRecorded: ['agentName'],
  },
  {
    name: 'Anthropic loop by OpenInference',
    program: 'anthropic',
    variant: 'loop/openinference',
    packages: anthropicPackages,
  },
  {
    name: 'Anthropic loop by Traceloop',
    fails: /Cannot read properties of undefined \(reading 'prototype'\)/,
    program: 'anthropic',
    variant: 'loop/traceloop',
    packages: anthropicPackages,
    sdk: 'traceloop',
    environment: { LIVE_INSTRUMENTS: 'anthropic' },
  },
  { name: 'Google ADK', program: 'adk', packages: adkPackages, scenarios: WITH_APPROVAL },
  { name: 'Strands', program: 'strands', packages: strandsPackages, scenarios: WITH_APPROVAL },
  {
    name: 'Strands, latest conventions',
    program: 'strands',
    packages: strandsPackages,
    environment: { OTEL_SEMCONV_STABILITY_OPT_IN: 'gen_ai_latest_experimental' },
    scenarios: WITH_APPROVAL,
  },
  { name: 'VoltAgent', program: 'voltagent', packages: voltagentPackages, sdk: 'voltagent', scenarios: WITH_APPROVAL },
  {
    name: 'Genkit',
    program: 'genkit',
    packages: genkitPackages,
    // An error of a tool ends the program there.
    scenarios: WITH_APPROVAL.filter(({ name }) => name !== 'tool error'),
  },
  {
    name: 'OpenAI chat by instrumentation-openai',
    program: 'openai',
    variant: 'chat/semconv',
    packages: openaiSemconvPackages,
    scenarios: [...SCENARIOS, ...CUT_OFF],
  },
  {
    name: 'OpenAI responses by instrumentation-openai',
    program: 'openai',
    variant: 'responses/semconv',
    packages: openaiSemconvPackages,
  },
  {
    name: 'OpenAI chat by auto-instrumentations-node',
    program: 'openai',
    variant: 'chat/auto',
    sdk: 'auto',
    packages: { ...openaiSemconvPackages, '@opentelemetry/auto-instrumentations-node': '0.82.0' },
    environment: { OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: 'true' },
    nodeArguments: ['--require', '@opentelemetry/auto-instrumentations-node/register'],
  },
  { name: 'MCP client and server, AI SDK 7', program: 'mcp', packages: mcpPackages },
]

/** The scenarios that the library plays. */
export function scenariosOf({ scenarios = SCENARIOS }: Library): readonly LiveScenario[] {
  return scenarios
}
