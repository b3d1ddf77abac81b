import type { AgentRun } from '../runs/agent-run.ts'
import type { Failed, JudgeReport, Skipped } from '../scoring/score.ts'
import type { ScorerJudge, ScoringContext } from '../scoring/scorer.ts'
import type { OutputSchema, PromptStep, StepJudge } from './scorer-steps.ts'

/** Shape of the reply to `generateScore`, where the step names none. */
export const SCORE_SCHEMA: OutputSchema<unknown> = {
  type: 'object',
  properties: { score: { type: 'number' } },
  required: ['score'],
  additionalProperties: false,
}

/** Shape of the reply to `generateReason`, where the step names none. */
export const REASON_SCHEMA: OutputSchema<unknown> = {
  type: 'object',
  properties: { reason: { type: 'string' } },
  required: ['reason'],
  additionalProperties: false,
}

/** Asks the judge for the prompt steps of one score. */
export interface StepAsker {
  /** The reply, valid by the step's schema; or what came of it instead. */
  ask(step: AnyPromptStep, prompt: string, defaultSchema: OutputSchema<unknown> | undefined): Promise<unknown>
  /** What all calls so far took; `undefined` where there was none. */
  report(): JudgeReport | undefined
}

/** The judge of a scorer with prompt steps. */
export interface StepJudging {
  readonly judge: ScorerJudge
  readonly identity: unknown
  asker(run: AgentRun, context: ScoringContext): StepAsker
}

/** A prompt step, whatever its context and result. */
export type AnyPromptStep = Pick<PromptStep<never, unknown>, 'description' | 'judge'> & {
  readonly outputSchema?: OutputSchema<unknown>
}

export function createStepJudging(
  id: string,
  steps: readonly AnyPromptStep[],
  judge: StepJudge | undefined,
): StepJudging | undefined {
  if (steps.length === 0) return undefined
  throw new TypeError(`createScorer ${id}: prompts are not asked yet. ${String(judge)}`)
}
export type { Failed, Skipped }
