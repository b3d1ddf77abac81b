import type { Dialect } from '../dialect.ts'
import { ag2 } from './ag2.ts'
import { agentOps } from './agentops.ts'
import { aiSdkOtel } from './ai-sdk/ai-sdk-otel.ts'
import { aiSdk } from './ai-sdk/ai-sdk.ts'
import { anthropicSdk } from './anthropic-sdk.ts'
import { anyAgent } from './any-agent.ts'
import { claudeCode } from './claude-code.ts'
import { crewAi } from './crewai.ts'
import { geminiCli } from './gemini-cli.ts'
import { genAi } from './gen-ai.ts'
import { genkit } from './genkit.ts'
import { githubCopilot } from './github-copilot.ts'
import { googleAdk } from './google-adk.ts'
import { haystack } from './haystack.ts'
import { koog } from './koog.ts'
import { laminar } from './laminar.ts'
import { langSmith } from './langsmith.ts'
import { langfuse } from './langfuse/langfuse.ts'
import { llamaIndex } from './llama-index.ts'
import { logfireOpenAiAgents } from './logfire/openai-agents.ts'
import { logfire } from './logfire/logfire.ts'
import { mastra } from './mastra.ts'
import { microsoft } from './microsoft.ts'
import { mlflowDspy } from './mlflow/dspy.ts'
import { mlflowGemini } from './mlflow/gemini.ts'
import { mlflow } from './mlflow/mlflow.ts'
import { mlflowPydanticAi } from './mlflow/pydantic-ai.ts'
import { openInferenceAgno } from './openinference/agno.ts'
import { openInferenceBeeAiEvents } from './openinference/beeai-events.ts'
import { openInferenceBeeAi } from './openinference/beeai.ts'
import { openInferenceClaudeAgentSdk } from './openinference/claude-agent-sdk.ts'
import { openInferenceCrewAi } from './openinference/crewai.ts'
import { openInferenceDspy } from './openinference/dspy.ts'
import { openInferenceGoogleAdk } from './openinference/google-adk.ts'
import { openInferenceGoogleGenAi } from './openinference/google-genai.ts'
import { openInferenceHaystack } from './openinference/haystack.ts'
import { openInferenceInstructor } from './openinference/instructor.ts'
import { openInferenceLangChain } from './openinference/langchain.ts'
import { openInferenceLlamaIndex } from './openinference/llama-index.ts'
import { openInferenceOpenAiAgents } from './openinference/openai-agents.ts'
import { openInferenceSmolagents } from './openinference/smolagents.ts'
import { openInference } from './openinference/openinference.ts'
import { openInferenceStrands } from './openinference/strands.ts'
import { openLit } from './openlit.ts'
import { openLlmetryAgno } from './openllmetry/agno.ts'
import { openLlmetryCrewAi } from './openllmetry/crewai.ts'
import { openLlmetryGoogleGenerativeAi } from './openllmetry/google-generativeai.ts'
import { openLlmetryHaystack } from './openllmetry/haystack.ts'
import { openLlmetryLlamaIndex } from './openllmetry/llama-index.ts'
import { openLlmetry } from './openllmetry/openllmetry.ts'
import { otelLangChain } from './otel-langchain.ts'
import { otelOpenAiAgents } from './otel-openai-agents.ts'
import { pydanticAi } from './pydantic-ai.ts'
import { quarkusLangChain4j } from './quarkus-langchain4j.ts'
import { qwenCode } from './qwen-code.ts'
import { sentry } from './sentry.ts'
import { springAi } from './spring-ai.ts'
import { strands } from './strands.ts'
import { pipecat } from './pipecat.ts'
import { voltAgent } from './voltagent.ts'

/**
 * All dialects in order of precedence: the first that recognises a span reads it. OpenInference comes after the AI SDK and Pydantic AI,
 * because it adds attributes to their spans, which are complete without them. `gen-ai` is last, because most others write some of its
 * attributes.
 */
export const allDialects: readonly Dialect[] = [
  aiSdk,
  aiSdkOtel,
  mastra,
  langfuse,
  pydanticAi,
  openInferenceLangChain,
  openInferenceAgno,
  openInferenceBeeAiEvents,
  openInferenceBeeAi,
  openInferenceClaudeAgentSdk,
  openInferenceCrewAi,
  openInferenceDspy,
  openInferenceGoogleAdk,
  openInferenceGoogleGenAi,
  openInferenceHaystack,
  openInferenceInstructor,
  openInferenceLlamaIndex,
  openInferenceSmolagents,
  openInferenceStrands,
  openInferenceOpenAiAgents,
  openInference,
  langSmith,
  anthropicSdk,
  claudeCode,
  googleAdk,
  genkit,
  pipecat,
  voltAgent,
  agentOps,
  openLit,
  openLlmetryAgno,
  openLlmetryCrewAi,
  openLlmetryGoogleGenerativeAi,
  openLlmetryHaystack,
  openLlmetryLlamaIndex,
  openLlmetry,
  springAi,
  quarkusLangChain4j,
  strands,
  microsoft,
  logfire,
  logfireOpenAiAgents,
  otelLangChain,
  otelOpenAiAgents,
  sentry,
  laminar,
  mlflowDspy,
  mlflowGemini,
  mlflowPydanticAi,
  mlflow,
  geminiCli,
  qwenCode,
  githubCopilot,
  koog,
  ag2,
  haystack,
  llamaIndex,
  crewAi,
  anyAgent,
  genAi,
]
