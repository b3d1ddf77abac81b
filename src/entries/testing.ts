export { createFakeJudge } from '../testing/fake-judge.ts'
export type { FakeJudgeOptions, JudgeBehaviour } from '../testing/fake-judge.ts'
export { readJudgePrompt } from '../testing/judge-prompt.ts'
export type { AskedList, AskedQuestion, JudgePrompt } from '../testing/judge-prompt.ts'
export { judgeReply } from '../testing/judge-reply.ts'
export type { ScriptedItem, ScriptedVerdict, ScriptedVerdicts } from '../testing/judge-reply.ts'
export { createOtlpReceiver } from '../testing/otlp-receiver.ts'
export type {
  OtlpReceiver,
  OtlpReceiverOptions,
  ReceivedBatch,
  ReceivedLog,
  ReceivedSpan,
} from '../testing/otlp-receiver.ts'
export type { ReceivedMetric } from '../testing/otlp-metrics.ts'
export { createScriptedJudge } from '../testing/scripted-judge.ts'
export type { JudgeScript, ScriptedJudgeReply } from '../testing/scripted-judge.ts'
export type { TextModel, TextModelCall, TextModelReply } from '../testing/text-model.ts'
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
export { testCases } from '../testing/test-cases.ts'
export type { AskedCase, CaseTestOptions } from '../testing/test-cases.ts'
export type { AgentCase, CaseFault } from '../cases/agent-case.ts'
export type { AnswerPoint, AnswerPoints } from '../scorers/judge/answer-correctness/points.ts'
