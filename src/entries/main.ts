export type {
  AgentRun,
  Conversation,
  Missing,
  ModelCall,
  Retrieval,
  RetrievedDocument,
  SideCall,
  ToolCall,
  ConversationTurn,
} from '../model/agent-run.ts'
export type { Message, Part, RunError, ToolDefinition, Usage } from '../model/message.ts'
export type {
  CallScore,
  Evaluation,
  FailureCode,
  Failed,
  JudgeReport,
  Score,
  Scored,
  ScorerLevel,
  Skipped,
  SkipReason,
} from '../model/score.ts'
export type { Finding, FindingPlace } from '../model/finding.ts'
export type { RunFact } from '../scoring/absence.ts'
export type {
  CallVerdict,
  CallVerdicts,
  JudgeCall,
  Need,
  ScorerJudge,
  ScoringContext,
  Verdict,
} from '../scoring/scorer.ts'
export { attachScoring } from '../processor/attach/attach.ts'
export type { AttachedScoring } from '../processor/attach/attach.ts'
export type { Feedback } from '../emit/feedback.ts'
export { ScoringSpanProcessor } from '../processor/scoring-span-processor.ts'
export type {
  AlertSeverity,
  Sample,
  Scope,
  ScorerAlerts,
  ServiceAlerts,
  ScorerEntry,
  ScoringOptions,
} from '../engine/config/scoring-options.ts'
export type { EndedSpan, OpenSpan, SpanProcessorLike } from '../spans/sdk-types.ts'
export type { CallCounts, LedgerSnapshot, RunCounts, ScorerCounts } from '../scoring/ledger.ts'
export type { BudgetLimits } from '../sampling/budget.ts'
export type { EmitOptions } from '../emit/emitter.ts'
export { defineConfig } from '../engine/config/define-config.ts'
export { weightedMean } from '../sampling/weighted-mean.ts'
export type { WeightedMean, WeightedSums } from '../sampling/weighted-mean.ts'
export * from './scorers.ts'
export type { EmittedLogRecord, LogRecordProcessorLike } from '../processor/deliver/log-capture.ts'
export type { LoggerLike, LoggerProviderLike, LogRecordLike } from '../emit/signal-providers.ts'
export type { ExplanationPolicy } from '../attributes/explanation-rules.ts'
