export type { AgentRun, Missing, ModelCall, ToolCall } from '../runs/agent-run.ts'
export type { Message, Part, RunError, ToolDefinition, Usage } from '../spans/message.ts'
export type {
  Evaluation,
  FailureCode,
  Failed,
  JudgeReport,
  Score,
  Scored,
  Skipped,
  SkipReason,
} from '../scoring/score.ts'
export type {
  JudgeCall,
  Need,
  Scorer,
  ScorerInput,
  ScorerJudge,
  ScorerRunResult,
  ScoringContext,
  Verdict,
} from '../scoring/scorer.ts'
