import { defineScorer } from '../scoring/define-scorer.ts'
import { formatValue } from '../scoring/format-value.ts'
import type { Scorer, ScorerJudge, Verdict } from '../scoring/scorer.ts'
import type { AgentRun } from '../model/agent-run.ts'
import type { RunFact } from '../scoring/absence.ts'
import { expectReturned } from '../scorers/expect-returned.ts'
import { expectFacts, expectOption, readOptions } from '../scorers/read-options.ts'
import type { KeysOf } from '../scorers/read-options.ts'

/** What every adapter takes beside the scorer of the other library. */
export interface AdapterOptions {
  /** `^[a-z][a-z0-9_]*$`. @default made of the other scorer's id or name */
  readonly id?: string
  /** One sentence about what the score means. @default the other scorer's, or its name */
  readonly description?: string
  /** Lowest and highest score. @default [0, 1] */
  readonly range?: readonly [number, number]
  /** Whether a higher score is better. @default 'higher' */
  readonly better?: 'higher' | 'lower'
  /** Pass mark in the scorer's own units. @default the highest score for code; .7 of the range if a model is asked */
  readonly passAt?: number
  /**
   * `judge` if the scorer asks a model: then budgets and `redact` apply, and it is never called for runs that are not sampled. `code` if it
   * computes.
   *
   * @default `code` if it is known to compute, otherwise `judge`
   */
  readonly kind?: 'code' | 'judge'
  /** The model that it asks, as metrics and budgets name it. @default the other scorer's, else `unknown` */
  readonly model?: string
  /** Raise it when the scorer changes its meaning. It is part of the score's version. */
  readonly version?: string | number
  /** Facts whose absence the scorer takes into account. Without any other fact that it is given, it is not called. @default depends on the adapter */
  readonly mayLack?: readonly RunFact[]
  /** The expected answer of a run, if there is one. `.run({ groundTruth })` takes precedence. */
  readonly expected?: (run: AgentRun) => unknown
}

/** The names of these options. */
export const adapterKeys: KeysOf<AdapterOptions> = {
  id: true,
  description: true,
  range: true,
  better: true,
  passAt: true,
  kind: true,
  model: true,
  version: true,
  mayLack: true,
  expected: true,
}

/** A scorer of another library, described by its adapter, and the input that it takes. */
export interface ForeignScorer<Input> {
  /** Name of the adapter, for errors and the version. */
  readonly adapter: string
  /** The basis of the id if the options have none. */
  readonly name: string | undefined
  readonly description: string | undefined
  readonly kind: 'code' | 'judge'
  readonly model: string | undefined
  /** Facts of its input that it does not need. */
  readonly mayLack: readonly RunFact[]
  /** Makes its input of a run. What is read here is what it needs. */
  readonly toInput: (run: AgentRun, expected: unknown) => Input
  /** Scores the input with the other scorer. */
  readonly score: (input: Input) => Promise<Verdict>
}

/**
 * Wraps a scorer of another library.
 *
 * @throws TypeError if an option is wrong, or the scorer has no name and the options no id
 */
export function adapt<Input>(foreign: ForeignScorer<Input>, given: AdapterOptions): Scorer {
  const { adapter } = foreign
  const { expected, version, better, passAt, range, ...more } = readOptions(adapter, given, adapterKeys)
  const { kind = foreign.kind, model = foreign.model ?? 'unknown', id = idOf(foreign.name) } = more
  const { mayLack = foreign.mayLack } = more
  expectOption(id !== undefined, adapter, "options.id, since the scorer's own name makes none", foreign.name)
  expectOption(kind === 'code' || kind === 'judge', adapter, "options.kind to be 'code' or 'judge'", kind)
  expectFacts(adapter, 'options.mayLack', mayLack)
  const isFunction = expected === undefined || typeof expected === 'function'
  expectOption(isFunction, adapter, 'options.expected to be a function of the run', expected)
  return defineScorer({
    id: id ?? '',
    description: more.description ?? foreign.description ?? foreign.name ?? adapter,
    kind,
    ...(range !== undefined && { range }),
    ...(better !== undefined && { better }),
    passAt,
    identity: { adapter, name: foreign.name, model: kind === 'judge' ? model : undefined, version },
    needs: ['input', 'output', 'systemInstructions', 'toolNames', 'toolArguments', 'toolResults', 'groundTruth'],
    anyForm: true,
    ...(kind === 'judge' && { judge: judgeOf(model) }),
    mayLack,
    assess: async (run, context, reads): Promise<Verdict> => {
      const groundTruth =
        context.expected?.groundTruth ??
        expectReturned(expected?.(run), id ?? '', 'expected to return a value', () => true)
      const input = foreign.toInput(run, groundTruth)
      return reads.absence ?? foreign.score(input)
    },
  })
}

/** The other library calls its model itself, so neither its price nor its availability is known. */
function judgeOf(model: string): ScorerJudge {
  return {
    model,
    priced: false,
    estimate: (run) => ({
      calls: 1,
      tokens: 1500 + Math.ceil(((run.userInput?.length ?? 0) + (run.output?.length ?? 0)) / 3),
    }),
    unavailable: () => undefined,
  }
}

/** Converts a number, or a boolean as 1 or 0, to a verdict. Anything else becomes `failed: invalid-score`. */
export function toVerdict(id: string, value: unknown, explanation: unknown, details?: unknown): Verdict {
  const score = typeof value === 'boolean' ? Number(value) : value
  if (typeof score !== 'number') {
    const message = `${id}: expected a number or a boolean as its score, got ${formatValue(value)}.`
    return { status: 'failed', code: 'invalid-score', message }
  }
  return {
    status: 'scored',
    value: score,
    ...(typeof explanation === 'string' && explanation !== '' && { explanation }),
    ...(details !== undefined && { details }),
  }
}

/** `ClosedQA` → `closed_qa`; `polite-check` → `polite_check`. */
function idOf(name: string | undefined): string | undefined {
  const spaced = (name ?? '').replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2').toLowerCase()
  const id = (spaced.match(/[a-z0-9]+/g) ?? []).join('_').replace(/^[_0-9]+/, '')
  return id === '' ? undefined : id
}
