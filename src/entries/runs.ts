export type {
  AgentRun,
  Missing,
  ModelCall,
  Retrieval,
  RetrievedDocument,
  SideCall,
  ToolCall,
} from '../model/agent-run.ts'
export { readRuns } from '../otlp/read-runs.ts'
export type { OtlpDamage, OtlpInput, OtlpSummary, ReadRunsOptions } from '../otlp/read-runs.ts'
export { reconstructRuns } from '../runs/build-runs.ts'
export type { SdkSpanLike } from '../spans/from-sdk-span.ts'
export type { Message, Part, RunError, ToolDefinition, Usage } from '../model/message.ts'
export type { SourceEvent, SourceLog, SourceSpan } from '../spans/source-span.ts'
