import type { AgentRun } from '../../model/agent-run.ts'
import { isExplanation } from '../../model/explanation.ts'
import { readFindings } from '../../model/finding.ts'
import type { Failed, JudgeReport, Skipped } from '../../model/score.ts'
import type { Reads } from '../../scoring/reads.ts'
import { withFacts } from '../../scoring/run-view.ts'
import type { ScoredVerdict, Scorer, ScoringContext, Verdict } from '../../scoring/scorer.ts'
import { isThenable } from '../../scoring/thenable.ts'
import { invalidScore } from '../../scoring/verdict.ts'
import { isRecord } from '../../spans/json.ts'
import { REASON_SHAPE, scoreShape } from './prompt-steps.ts'
import type { AnyPromptStep, DefaultShape, StepAsker } from './prompt-steps.ts'

/** The steps of a scorer, in order. */
export type StepName = 'preprocess' | 'analyze' | 'generateScore' | 'generateReason'
type AnyContext = Readonly<Record<string, unknown>>
/** A function or a prompt, of any type. */
export type AnyStep = ((context: AnyContext) => unknown) | AnyPromptStep
/** The steps that were given. */
export type Steps = { readonly [Name in StepName]?: AnyStep }
/** Steps including the required score step. */
export type ScoredSteps = Steps & { readonly generateScore: AnyStep }

/** What the steps are given, and what they read of it. */
export interface StepSource {
  /** By the level of the scorer. */
  readonly subject: AnyContext
  readonly reads: Reads
}

/** What the steps of a scorer of runs are given: the run in the form that was passed to `.run()`, and in that of live runs. */
export function runSubject(agentRun: AgentRun, { given, expected }: ScoringContext, reads: Reads): AnyContext {
  if (given === undefined && expected === undefined) return { run: agentRun, agentRun }
  const own = {
    ...(given !== undefined && { input: given.input, output: given.output }),
    ...(expected?.groundTruth !== undefined && { groundTruth: expected.groundTruth }),
  }
  return { run: withFacts(agentRun, reads.run, own), agentRun }
}

/** A verdict on the subject, with the results of the steps. */
export type StepVerdict = Exclude<Verdict, { readonly status: 'calls' }>

/** Runs the steps in order, until one reads a fact that the run lacks; yields values that may be promises. */
export function* assessSteps(
  { id, range }: Pick<Scorer, 'id' | 'range'>,
  steps: ScoredSteps,
  { subject, reads }: StepSource,
  asker: StepAsker | undefined,
): Generator<unknown, StepVerdict, unknown> {
  const results: { preprocessStepResult?: unknown; analyzeStepResult?: unknown } = {}
  const take = (step: AnyStep, more?: { readonly score: number }, shape?: DefaultShape): unknown => {
    const context = { ...subject, results: { ...results }, ...more }
    if (typeof step === 'function') return step(context)
    return asker?.ask(step, context, shape).catch((error: unknown) => {
      if (reads.absence === undefined) throw error
      return reads.absence
    })
  }
  const finish = (verdict: ScoredVerdict | Skipped | Failed): StepVerdict => {
    const report: JudgeReport | undefined = asker?.report()
    return { ...verdict, ...results, ...(report !== undefined && { judge: report }) }
  }
  if (steps.preprocess !== undefined) {
    const preprocessed = yield take(steps.preprocess)
    if (isUnavailable(preprocessed)) return finish(preprocessed)
    if (reads.absence !== undefined) return finish(reads.absence)
    results.preprocessStepResult = preprocessed
  }
  if (steps.analyze !== undefined) {
    const analyzed = yield take(steps.analyze)
    if (isUnavailable(analyzed)) return finish(analyzed)
    if (reads.absence !== undefined) return finish(reads.absence)
    results.analyzeStepResult = analyzed
  }
  const reply = yield take(steps.generateScore, undefined, scoreShape(range))
  if (isUnavailable(reply)) return finish(reply)
  if (reads.absence !== undefined) return finish(reads.absence)
  const value = numberOf(isRecord(reply) && 'score' in reply ? reply.score : reply, range)
  if (typeof value !== 'number') return finish(invalidScore(id, range, value))
  if (steps.generateReason === undefined || Number.isNaN(value)) return finish({ status: 'scored', value })
  const said = yield take(steps.generateReason, { score: value }, REASON_SHAPE)
  if (isUnavailable(said)) return finish(said)
  const reason = isRecord(said) && 'reason' in said ? said.reason : said
  const isReason = typeof reason === 'string' || isExplanation(reason)
  const findings = readFindings(isRecord(said) ? said.findings : undefined)
  return finish({
    status: 'scored',
    value,
    ...(isReason && { explanation: reason }),
    ...(findings.length > 0 && { findings }),
  })
}

/** A score from 0 to 1 may be true or false. */
function numberOf(score: unknown, [low, high]: readonly [number, number]): unknown {
  return typeof score === 'boolean' && low === 0 && high === 1 ? Number(score) : score
}

/** Whether a step ends the scoring, because its judge gave no result, or it returned no score itself. */
function isUnavailable(value: unknown): value is Skipped | Failed {
  return (
    isRecord(value) &&
    typeof value.message === 'string' &&
    ((value.status === 'skipped' && typeof value.reason === 'string') ||
      (value.status === 'failed' && typeof value.code === 'string'))
  )
}

/**
 * Runs a generator that yields values or promises, and passes their results back. It is synchronous as long as nothing is a promise, so
 * that the same code serves both cases.
 */
export function runSyncOrAsync<Result>(steps: Generator<unknown, Result, unknown>): Result | Promise<Result> {
  let state = steps.next()
  while (state.done !== true) {
    if (isThenable(state.value)) return continueAsync(steps, state.value)
    state = steps.next(state.value)
  }
  return state.value
}

async function continueAsync<Result>(
  steps: Generator<unknown, Result, unknown>,
  first: PromiseLike<unknown>,
): Promise<Result> {
  let state = steps.next(await first)
  while (state.done !== true) state = steps.next(await state.value)
  return state.value
}
