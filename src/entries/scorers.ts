export { createToolCallAccuracyScorerCode } from '../scorers/tool-call-accuracy-code.ts'
export type {
  ToolCallAccuracyCodeOptions,
  ToolCallAccuracyPreprocess,
  ToolCallInfo,
} from '../scorers/tool-call-accuracy-code.ts'
