export { createScriptedOpenAIServer } from '../testing/scripted-openai-server.ts'
export type { ScriptedOpenAIServer, ScriptedOpenAIServerOptions } from '../testing/scripted-openai-server.ts'
export type {
  Script,
  ScriptedMessage,
  ScriptedReply,
  ScriptedRequest,
  ScriptedToolCall,
} from '../testing/scripted-reply.ts'
export { createAgentTestRun, createTestMessage, createTestRun, createToolInvocation } from '../testing/test-messages.ts'
export type {
  AgentTestRun,
  AgentTestRunOptions,
  TestMessage,
  TestMessageOptions,
  ToolInvocation,
  ToolInvocationState,
} from '../testing/test-messages.ts'
