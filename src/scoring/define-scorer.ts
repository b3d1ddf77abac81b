import type { AgentRun } from '../model/agent-run.ts'
import type { ScorerLevel, Skipped } from '../model/score.ts'
import { contentFree } from '../model/explanation.ts'
import type { RunFact } from './absence.ts'
import { evaluateInFull } from './evaluate.ts'
import { toScorerInput } from './given/scorer-input.ts'
import { Reads } from './reads.ts'
import { scorerView } from './run-view.ts'
import { ScoreUnavailableError } from './score-unavailable-error.ts'
import type {
  Need,
  Scorer,
  ScorerInput,
  ScorerJudge,
  ScorerRunOptions,
  ScorerRunResult,
  ScoringContext,
  Verdict,
} from './scorer.ts'
import { scorerVersion } from './scorer-version.ts'
import { formatValue } from './format-value.ts'
import { keepProcessAlive } from './keep-process-alive.ts'
import { adopted, isThenable } from './thenable.ts'
import { skipped } from './unscored.ts'
import { withOwnFacts } from '../runs/view/with-own-facts.ts'

/** The parts from which `defineScorer` builds a scorer. */
export interface ScorerDefinition<Preprocessed = unknown, Analyzed = unknown> {
  /** `^[a-z][a-z0-9_]*$` */
  readonly id: string
  /** One sentence about what the score means. */
  readonly description: string
  readonly kind: 'code' | 'judge'
  /** What its scores are about. @default 'run' */
  readonly level?: ScorerLevel
  /** Lowest and highest value. @default [0, 1] */
  readonly range?: readonly [number, number]
  /** @default 'higher' */
  readonly better?: 'higher' | 'lower'
  /**
   * Pass mark in the scorer's own units: pass is `>=`, `<=` where lower is better.
   *
   * @default the highest value for code scorers, .7 of the range for judges, .3 of it where lower is better
   */
  readonly passAt?: number | undefined
  /** Everything besides the id that affects the meaning of the score: options, prompt texts, model. `version` is a hash of it. */
  readonly identity?: unknown
  /** Whether `assess` may run while the agent span is ending. It must then be synchronous, quick, and do no I/O. @default false */
  readonly inline?: boolean
  /** Facts of the run that `assess` reads. @default [] */
  readonly needs?: readonly Need[]
  /** Facts whose absence `assess` takes into account itself. Reading any other fact that the run lacks skips the score. @default [] */
  readonly mayLack?: readonly RunFact[]
  readonly judge?: ScorerJudge
  /** Whether `handOver` can change a score. @default false */
  readonly readsHandOver?: boolean
  /** Whether `assess` reads the input and output that were passed to `.run()`, in any form. @default false */
  readonly anyForm?: boolean
  /** Judges the run, of which it gets a view. It may throw or reject. */
  assess(
    run: AgentRun,
    context: ScoringContext,
    reads: Reads,
  ): Verdict<Preprocessed, Analyzed> | Promise<Verdict<Preprocessed, Analyzed>>
}

/**
 * Makes a scorer from one function that looks at a run. The prebuilt scorers are written with it, and `createScorer` builds on
 * it.
 *
 * @throws TypeError if the definition is wrong: `expected … got …`
 */
export function defineScorer<Preprocessed = unknown, Analyzed = unknown>(
  definition: ScorerDefinition<Preprocessed, Analyzed>,
): Scorer<Preprocessed, Analyzed> {
  const { id, description, kind, level = 'run', better = 'higher', inline = false, needs = [], judge } = definition
  const range = definition.range ?? [0, 1]
  const mayLack = new Set(definition.mayLack)
  check(typeof id === 'string' && /^[a-z][a-z0-9_]*$/.test(id), id, 'id', 'a match of ^[a-z][a-z0-9_]*$', id)
  check(isRange(range), id, 'range', 'two numbers, the lower first', range)
  const [low, high] = range
  check(better === 'higher' || better === 'lower', id, 'better', "'higher' or 'lower'", better)
  const passAt = definition.passAt === undefined ? defaultPassAt(kind, better, range) : definition.passAt
  check(
    typeof passAt === 'number' && passAt >= low && passAt <= high,
    id,
    'passAt',
    `a number from ${low} to ${high}`,
    passAt,
  )
  const scorer: Scorer<Preprocessed, Analyzed> = {
    id,
    description,
    kind,
    level,
    range,
    better,
    passAt,
    version: scorerVersion({
      id,
      kind,
      range,
      better,
      identity: definition.identity,
      ...(level !== 'run' && { level }),
    }),
    inline,
    needs,
    ...(judge !== undefined && { judge }),
    ...(definition.readsHandOver === true && { readsHandOver: true }),
    assess: (run, context) =>
      skipWithoutTurns(definition, run) ?? assessView(definition, new Reads(run, id, mayLack), context),
    run: (input, options) => runOnce(scorer, definition, input, options),
  }
  return Object.freeze(scorer)
}

/** Judges would take a conversation for worse than it was if a part of it is missing. */
function skipWithoutTurns({ id, kind }: Pick<Scorer, 'id' | 'kind'>, { conversation }: AgentRun): Skipped | undefined {
  if (conversation === undefined || kind !== 'judge') return undefined
  const missing = conversation.missing.find(({ why }) => why !== 'limit')
  if (missing === undefined) return undefined
  const why = missing.why === 'redacted' ? 'redact threw' : 'a request repeats messages that no known run answered'
  return skipped('incomplete', contentFree(`${id}: turns of the conversation are missing: ${why}.`))
}

/** Asks a scorer about its view of a run. If it read a fact that the run lacks, the score is skipped, unless the scorer skipped it itself. */
function assessView<Preprocessed, Analyzed>(
  definition: ScorerDefinition<Preprocessed, Analyzed>,
  reads: Reads,
  context: ScoringContext,
): Verdict<Preprocessed, Analyzed> | Promise<Verdict<Preprocessed, Analyzed>> {
  const conclude = (verdict: Verdict<Preprocessed, Analyzed>): Verdict<Preprocessed, Analyzed> => {
    const { absence } = reads
    if (absence === undefined || verdict?.status === 'skipped') return verdict
    return verdict?.judge === undefined ? absence : { ...absence, judge: verdict.judge }
  }
  const concludeThrown = (error: unknown): Skipped => {
    if (reads.absence === undefined) throw error
    return reads.absence
  }
  try {
    const verdict = definition.assess(scorerView(reads, definition.anyForm === true), context, reads)
    return isThenable(verdict) ? adopted(verdict).then(conclude, concludeThrown) : conclude(verdict)
  } catch (error) {
    return concludeThrown(error)
  }
}

/** Implements `.run()` for every scorer: it turns messages into an `AgentRun`, and rejects if there is no score. */
async function runOnce<Preprocessed, Analyzed>(
  scorer: Scorer<Preprocessed, Analyzed>,
  definition: ScorerDefinition<Preprocessed, Analyzed>,
  input: ScorerInput | readonly ScorerInput[],
  options: ScorerRunOptions = {},
): Promise<ScorerRunResult<Preprocessed, Analyzed>> {
  const { anyForm = false, mayLack } = definition
  const { run: lazyRun, given, expected, unread } = toScorerInput(scorer, input, anyForm)
  // Steps of an application may compare or copy the run in a test. Prebuilt scorers do not, and are faster without.
  const run = anyForm ? withOwnFacts(lazyRun) : lazyRun
  const reads = unread && new Reads(run, scorer.id, new Set(mayLack), unread)
  const pending = evaluateInFull(
    reads ? { ...scorer, assess: (_run, context) => assessView(definition, reads, context) } : scorer,
    run,
    { ...options, ...(given !== undefined && { given }), ...(expected !== undefined && { expected }) },
  )
  const outcome = pending instanceof Promise ? await keepProcessAlive(() => pending) : pending
  if (reads?.refusal !== undefined) throw reads.refusal
  const { evaluation, verdict } = outcome
  const { score } = evaluation
  if (score.status !== 'scored') throw new ScoreUnavailableError(evaluation, score, outcome.thrown)
  const { value, explanation } = score
  const { preprocessStepResult, analyzeStepResult } = verdict
  const result: Mutable<ScorerRunResult<Preprocessed, Analyzed>> =
    given === undefined
      ? { input: run.input, output: run.output, runId: run.id, score: value, evaluation }
      : { ...given, runId: run.id, score: value, evaluation }
  if (evaluation.calls !== undefined) result.calls = evaluation.calls
  if (explanation !== undefined) result.reason = explanation
  if (preprocessStepResult !== undefined) result.preprocessStepResult = preprocessStepResult
  if (analyzeStepResult !== undefined) result.analyzeStepResult = analyzeStepResult
  return result
}

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] }

function defaultPassAt(
  kind: 'code' | 'judge',
  better: 'higher' | 'lower',
  [low, high]: readonly [number, number],
): number {
  if (better === 'higher' && kind === 'code') return high
  const share = better === 'lower' ? 0.3 : 0.7
  // Removes rounding errors: a score of .9 must pass where lower is better and the mark is .3 × 3 = 0.8999999999999999.
  return Number((low + share * (high - low)).toPrecision(12))
}

function isRange(range: unknown): boolean {
  if (!Array.isArray(range) || range.length !== 2) return false
  const [low, high]: readonly unknown[] = range
  return Number.isFinite(low) && Number.isFinite(high) && Number(low) < Number(high)
}

function check(holds: boolean, id: string, option: string, expected: string, got: unknown): void {
  if (!holds)
    throw new TypeError(`Scorer ${formatValue(id)}: expected ${option} to be ${expected}, got ${formatValue(got)}.`)
}
