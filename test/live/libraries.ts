import { SCENARIOS } from './scenarios.ts'
import type { LiveScenario } from './scenarios.ts'

/** An application with one library, traced in one way. */
export interface Library {
  /** Such as `AI SDK 7`. */
  readonly name: string
  /** A module of `app/`. */
  readonly program: string
  /** What the program finds in the variable `VARIANT`. */
  readonly variant?: string
  /** Packages beside OpenTelemetry's. */
  readonly packages: Readonly<Record<string, string>>
  /** Arguments of `node`. @default none */
  readonly nodeArguments?: string[]
  /** Facts that the library's spans do not hold, as the recordings name them: `agentName`, `call0.result`. @default none */
  readonly notRecorded?: readonly string[]
  /** False where the packages that a judge needs (`ai` 6 or 7) are not installed. @default true */
  readonly hasJudge?: false
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

/** What the judges of spanscore need in the application. */
const JUDGE = { ai: '7.0.173' }

const langchain = {
  ...OPENTELEMETRY_2,
  ...JUDGE,
  '@arizeai/openinference-instrumentation-langchain': '4.1.1',
  '@langchain/core': '1.4.0',
  '@langchain/langgraph': '1.7.3',
  '@langchain/openai': '1.6.0',
  langchain: '1.5.14',
}

const ai5 = { ...OPENTELEMETRY_2, ai: '5.0.277', '@ai-sdk/openai': '2.0.131' }
const ai6 = { ...OPENTELEMETRY_2, ai: '6.0.326', '@ai-sdk/openai': '3.0.141' }
const ai7 = { ...OPENTELEMETRY_2, ai: '7.0.173', '@ai-sdk/openai': '4.0.118', '@ai-sdk/otel': '1.0.173' }

/** Every library that is run, those that most people use first. */
export const LIBRARIES: readonly Library[] = [
  { name: 'AI SDK 7', program: 'ai7', packages: ai7 },
  { name: 'AI SDK 7, responses', program: 'ai7', variant: 'responses', packages: ai7 },
  { name: 'AI SDK 6', program: 'ai5', packages: ai6 },
  { name: 'AI SDK 5', program: 'ai5', packages: ai5, hasJudge: false },
  { name: 'LangChain createAgent, OpenInference', program: 'langchain', packages: langchain },
]

/** The scenarios that the library plays. */
export function scenariosOf({ scenarios = SCENARIOS }: Library): readonly LiveScenario[] {
  return scenarios
}
