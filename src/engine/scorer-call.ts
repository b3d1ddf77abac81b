import type { AgentRun } from '../model/agent-run.ts'
import type { Evaluation, Skipped } from '../model/score.ts'
import type { Cost, Reservation } from '../sampling/budget.ts'
import { after } from '../scoring/after.ts'
import { evaluate } from '../scoring/evaluate.ts'
import type { EvaluateOptions } from '../scoring/evaluate.ts'
import { isolated } from '../scoring/isolation.ts'
import type { ResolvedOptions, ResolvedScorer } from './config/options.ts'
import type { Reporter } from './reporter.ts'

/** The parts of a call. */
export interface ScorerCallParts {
  readonly scorer: ResolvedScorer
  /** The probability with which the run was chosen: its rate, reduced by the budget. */
  readonly probability: number
  readonly upstream: number | undefined
  readonly options: Pick<ResolvedOptions, 'onJudgeCall' | 'timeoutMs' | 'handOver'>
  readonly reporter: Reporter
}

/** One call of a scorer. An asynchronous one is aborted after `timeoutMs`. */
export class ScorerCall {
  readonly #parts: ScorerCallParts
  #controller: AbortController | undefined

  constructor(parts: ScorerCallParts) {
    this.#parts = parts
  }

  /** Asks the scorer, in isolation. Never throws or rejects. It is synchronous if the scorer is. */
  ask(run: AgentRun): Evaluation | Promise<Evaluation> {
    const { scorer, options } = this.#parts
    if (scorer.scorer.inline) return isolated(() => this.#evaluate(run, undefined))
    const controller = new AbortController()
    this.#controller = controller
    const evaluation = isolated(() => this.#evaluate(run, controller.signal))
    if (!(evaluation instanceof Promise)) return evaluation
    const cancel = after(options.timeoutMs, () => this.abort())
    return evaluation.finally(cancel)
  }

  /** Ends an asynchronous scorer early. @param reason the score, instead of a timeout */
  abort(reason?: Skipped): void {
    // Listeners of the signal are code of the scorer.
    isolated(() => this.#controller?.abort(reason))
  }

  #evaluate(run: AgentRun, signal: AbortSignal | undefined): Evaluation | Promise<Evaluation> {
    const { scorer, probability, upstream, options, reporter } = this.#parts
    const { onJudgeCall, timeoutMs, handOver } = options
    const asked: { -readonly [Key in keyof EvaluateOptions]: EvaluateOptions[Key] } = {
      about: scorer.about,
      timeoutMs,
      handOver,
      probability,
    }
    if (scorer.passAt !== undefined) asked.passAt = scorer.passAt
    if (signal !== undefined) asked.signal = signal
    if (upstream !== undefined) asked.upstreamProbability = upstream
    if (onJudgeCall !== undefined && scorer.scorer.kind === 'judge') {
      asked.onJudgeCall = (call) =>
        reporter.callBack('onJudgeCall', () => onJudgeCall({ ...call, usage: { ...call.usage }, scorerId: scorer.id }))
    }
    return evaluate(scorer.scorer, run, asked)
  }
}

/** The cost of a judge that was not asked after all. */
export const NO_COST: Cost = { calls: 0, tokens: 0, costUsd: 0 }

/** Replaces what was reserved by what the scorer took. What a judge does not report of its usage remains booked as estimated. */
export function settleCost(reservation: Reservation | undefined, { judge, score }: Evaluation): void {
  if (judge) {
    const { inputTokens, outputTokens } = judge.usage
    const isCounted = inputTokens !== undefined && outputTokens !== undefined
    reservation?.settle({
      calls: judge.calls,
      ...(isCounted && { tokens: inputTokens + outputTokens }),
      ...(judge.costUsd !== undefined && { costUsd: judge.costUsd }),
    })
  } else if (score.status === 'skipped' || (score.status === 'failed' && score.code === 'redact-failed')) {
    reservation?.settle(NO_COST)
  }
}
