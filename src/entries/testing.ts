export { createScriptedOpenAIServer } from '../testing/scripted-openai-server.ts'
export type { ScriptedOpenAIServer, ScriptedOpenAIServerOptions } from '../testing/scripted-openai-server.ts'
export type {
  Script,
  ScriptedMessage,
  ScriptedReply,
  ScriptedRequest,
  ScriptedToolCall,
} from '../testing/scripted-reply.ts'
