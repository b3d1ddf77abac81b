import type { AgentRun } from '../../model/agent-run.ts'
import type { Evaluation } from '../../model/score.ts'
import { evaluate } from '../../scoring/evaluate.ts'
import type { EvaluateOptions } from '../../scoring/evaluate.ts'
import type { ResolvedOptions, ResolvedScorer } from '../config/options.ts'
import type { Reporter } from './reporter.ts'
import type { ScoredRun } from './scored-run.ts'

/** How to ask a scorer. */
export interface AskOptions {
  /** The options of the processor. */
  readonly options: ResolvedOptions
  /** Reports judge calls and errors. */
  readonly reporter: Reporter
  /** The probability with which the run was chosen for the scorer. */
  readonly probability: number
  /** Aborts the scoring. @default aborts after `timeoutMs` */
  readonly signal?: AbortSignal
}

/** Asks a scorer about a run, as configured. Must be called in `isolated`. */
export function askScorer(
  { upstream }: ScoredRun,
  { scorer, id, about, passAt }: ResolvedScorer,
  run: AgentRun,
  { options, reporter, probability, signal }: AskOptions,
): Evaluation | Promise<Evaluation> {
  const { onJudgeCall, timeoutMs } = options
  const asked: Mutable<EvaluateOptions> = { about, timeoutMs, probability }
  if (passAt !== undefined) asked.passAt = passAt
  if (signal !== undefined) asked.signal = signal
  if (upstream !== undefined) asked.upstreamProbability = upstream
  if (onJudgeCall !== undefined && scorer.kind === 'judge') {
    asked.onJudgeCall = (call) =>
      reporter.callBack('onJudgeCall', () => onJudgeCall({ ...call, usage: { ...call.usage }, scorerId: id }))
  }
  return evaluate(scorer, run, asked)
}

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] }
