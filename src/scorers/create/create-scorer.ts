import { defineScorer } from '../../scoring/define-scorer.ts'
import type { RunFact } from '../../scoring/absence.ts'
import type { Reads } from '../../scoring/reads.ts'
import type { Need, Scorer } from '../../scoring/scorer.ts'
import { formatValue } from '../../scoring/format-value.ts'
import { isRecord } from '../../spans/json.ts'
import { assessCalls } from './assess-calls.ts'
import { assessSteps, runSubject, runSyncOrAsync } from './assess-steps.ts'
import type { AnyStep, ScoredSteps, StepName, Steps, StepVerdict } from './assess-steps.ts'
import { createStepJudging, readStepJudge } from './prompt-steps.ts'
import type { AnyPromptStep } from './prompt-steps.ts'
import { areTexts, expectFacts, expectFlags, expectOption, isTextOrNone, readOptions } from '../read-options.ts'
import type { KeysOf } from '../read-options.ts'
import type { NewScorer, StandardSchema, StepJudge, SubjectsByLevel } from './scorer-steps.ts'

/** Options of a custom scorer, besides its steps. */
export interface CreateScorerOptions<
  Input = unknown,
  Output = unknown,
  Level extends keyof SubjectsByLevel = keyof SubjectsByLevel,
> {
  /** `^[a-z][a-z0-9_]*$`. @default derived from `name` */
  readonly id?: string
  /** For people. Required without `id`. */
  readonly name?: string
  /** One sentence about what the score means. */
  readonly description: string
  /**
   * What a score is about: the whole `run`, each `tool-call` of it, or each `retrieval`; or a `conversation` of several runs with one id. The
   * steps of a scorer of calls are given one `call` after the other, and the whole `agentRun`; those of a scorer of conversations the
   * `conversation`.
   *
   * @default 'run'
   */
  readonly level?: Level
  /**
   * The types of `run.input` and `run.output` in the steps: schemas of both, in any form, or `'agent'`, the default. Not checked at run
   * time.
   */
  readonly type?: 'agent' | { readonly input: StandardSchema<Input>; readonly output: StandardSchema<Output> }
  /** Lowest and highest score. @default [0, 1] */
  readonly range?: readonly [number, number]
  /** @default 'higher' */
  readonly better?: 'higher' | 'lower'
  /**
   * Pass mark in the scorer's own units.
   *
   * @default the highest score; with a judge .7 of the range, or .3 if lower is better
   */
  readonly passAt?: number
  /**
   * Raise it when a step changes its meaning, so that old and new scores are not averaged. Without it, the source text of the steps counts,
   * which does not include captured variables and differs in a minified build.
   */
  readonly version?: string | number
  /** The judge of prompt steps without one of their own. */
  readonly judge?: StepJudge
  /** Whether to run while the agent span is ending, for quick, synchronous steps without I/O. @default false */
  readonly inline?: boolean
  /** Facts of the run that the steps read. @default all */
  readonly needs?: readonly Need[]
  /**
   * Facts whose absence counts. A step that reads any other fact which the run lacks makes the score `skipped`.
   *
   * @default none
   */
  readonly mayLack?: readonly RunFact[]
}

const KNOWN: KeysOf<CreateScorerOptions> = {
  id: true,
  name: true,
  description: true,
  level: true,
  type: true,
  range: true,
  better: true,
  passAt: true,
  version: true,
  judge: true,
  inline: true,
  needs: true,
  mayLack: true,
}

/**
 * Creates a custom scorer, step by step: `preprocess`, `analyze`, `generateScore`, `generateReason`, of which only `generateScore` is
 * required. Each step is a function `({ run, results, score }) => …` or a prompt for the judge `{ description, outputSchema, createPrompt
 * }`, typed by the steps before it. The scorer is synchronous if all steps are.
 *
 * @example
 * ```ts
 * const citesSources = createScorer({ id: 'cites_sources', description: 'Share of sentences with a source.', version: 1 })
 *   .analyze(({ agentRun }) => (agentRun.output ?? '').split(/(?<=[.!?])\s+/))
 *   .generateScore(({ results }) => {
 *     const sentences = results.analyzeStepResult
 *     return sentences.filter((sentence) => /\[\d+\]/.test(sentence)).length / sentences.length
 *   })
 *   .generateReason(({ score }) => `${Math.round(score * 100)} % of the sentences name a source.`)
 * ```
 *
 * @throws TypeError if an option or a step is invalid or unknown: `expected … got …`
 */
export function createScorer<Input = unknown, Output = unknown, Level extends keyof SubjectsByLevel = 'run'>(
  options: CreateScorerOptions<Input, Output, Level>,
): NewScorer<SubjectsByLevel<Input, Output>[Level]> {
  const { id = idOf(options.name), ...more } = readOptions('createScorer', options, KNOWN)
  checkDeclaration(more)
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the steps' types exist at compile time only
  return withoutScore({ ...more, id }, {}) as NewScorer<SubjectsByLevel<Input, Output>[Level]>
}

/** The levels of scorers that are made of steps. */
const LEVELS: Readonly<Record<keyof SubjectsByLevel, true>> = {
  run: true,
  'tool-call': true,
  retrieval: true,
  conversation: true,
}

/** Checks options that `defineScorer` and the judge of the steps do not check. */
function checkDeclaration(declaration: Omit<CreateScorerOptions, 'id'>): void {
  const factory = 'createScorer'
  const {
    name,
    description,
    level = 'run',
    type = 'agent',
    version,
    judge,
    inline = false,
    needs = ALL_NEEDS,
  } = declaration
  if (declaration.mayLack !== undefined) expectFacts(factory, 'mayLack', declaration.mayLack)
  expectOption(isTextOrNone(name), factory, 'name to be a string', name)
  expectOption(isTextOrNone(description), factory, 'description to be a string', description)
  const levels = Object.keys(LEVELS)
  expectOption(levels.includes(level), factory, `level to be ${levels.join(' or ')}`, level)
  const isType = type === 'agent' || (isRecord(type) && 'input' in type && 'output' in type)
  expectOption(isType, factory, "type to be 'agent', or { input, output } with a schema each", type)
  const isTyped = declaration.type !== undefined && level !== 'run'
  expectOption(!isTyped, factory, `type to be left out, because the steps of level ${level} get no run`, type)
  const isVersion = isTextOrNone(version) || typeof version === 'number'
  expectOption(isVersion, factory, 'version to be a string or a number', version)
  expectFlags(factory, { inline })
  const known: readonly string[] = ALL_NEEDS
  const areNeeds = areTexts(needs) && needs.every((need) => known.includes(need))
  expectOption(areNeeds, factory, `needs to be a list of ${ALL_NEEDS.join(', ')}`, needs)
  if (judge !== undefined) readStepJudge(factory, judge)
}

type Untyped = Omit<CreateScorerOptions, 'type' | 'id'> & { readonly id: string }
/** The builder. Its types enforce the order of the steps. */
function withoutScore(options: Untyped, steps: Steps): unknown {
  return {
    preprocess: (step: unknown) => withoutScore(options, { ...steps, preprocess: checked('preprocess', step) }),
    analyze: (step: unknown) => withoutScore(options, { ...steps, analyze: checked('analyze', step) }),
    generateScore: (step: unknown) => {
      const scored = { ...steps, generateScore: checked('generateScore', step) }
      return Object.freeze({
        ...build(options, scored),
        generateReason: (reason: unknown) =>
          build(options, { ...scored, generateReason: checked('generateReason', reason) }),
      })
    },
  }
}

function build(options: Untyped, steps: ScoredSteps): Scorer {
  const { id } = options
  const judging = createStepJudging(
    { id, level: options.level ?? 'run' },
    Object.values(steps).filter((step) => typeof step !== 'function'),
    options.judge,
  )
  if (judging !== undefined && options.inline === true) {
    throw new TypeError(`createScorer ${id}: expected inline to be false, got true: steps that ask a judge take time.`)
  }
  const { level = 'run', range = [0, 1], better, passAt, inline, needs = ALL_NEEDS, mayLack } = options
  return defineScorer({
    id,
    description: options.description ?? options.name ?? '',
    kind: judging === undefined ? 'code' : 'judge',
    level,
    range,
    ...(better !== undefined && { better }),
    passAt,
    ...(inline !== undefined && { inline }),
    needs,
    ...(mayLack !== undefined && { mayLack }),
    ...(judging !== undefined && { judge: judging.judge }),
    anyForm: true,
    identity: {
      version: options.version,
      judge: judging?.identity,
      steps: options.version === undefined ? sourceOf(steps) : Object.keys(steps),
    },
    assess: (run, context, reads) => {
      const ask = (subject: Readonly<Record<string, unknown>>, ofSubject: Reads): StepVerdict | Promise<StepVerdict> =>
        runSyncOrAsync(
          assessSteps({ id, range }, steps, { subject, reads: ofSubject }, judging?.asker(ofSubject, context)),
        )
      if (level === 'run') return ask(runSubject(run, context, reads), reads)
      if (level === 'conversation') return ask({ conversation: reads.run.conversation }, reads)
      return assessCalls({ id, level, isAsked: judging !== undefined }, reads, ask)
    },
  })
}

/** The hashable parts of steps: source text, and JSON schemas. Schema objects of libraries are too complex to hash. */
function sourceOf(steps: Steps): unknown {
  return Object.entries(steps).map(([name, step]) => {
    if (typeof step === 'function') return [name, step]
    const { description, createPrompt, outputSchema } = step
    return [
      name,
      description,
      createPrompt,
      outputSchema !== undefined && '~standard' in outputSchema ? '' : outputSchema,
    ]
  })
}

function checked(name: StepName, step: unknown): AnyStep {
  if (!isStep(step)) {
    const expected = 'a function or { description, outputSchema, createPrompt }'
    throw new TypeError(`createScorer: expected ${name} to be given ${expected}, got ${formatValue(step)}.`)
  }
  return typeof step === 'function' ? step : readOptions(`createScorer ${name}`, step, PROMPT_KEYS)
}

const PROMPT_KEYS: KeysOf<AnyPromptStep> = { description: true, outputSchema: true, createPrompt: true, judge: true }

function isStep(step: unknown): step is AnyStep {
  return typeof step === 'function' || (isRecord(step) && typeof step.createPrompt === 'function')
}

/** `Code Quality!` → `code_quality`. */
function idOf(name: string | undefined): string {
  if (typeof name !== 'string') throw new TypeError(`createScorer: expected an id or a name, got ${formatValue(name)}.`)
  const words = name.toLowerCase().match(/[a-z0-9]+/g) ?? []
  const id = words.join('_').replace(/^[_0-9]+/, '')
  if (id !== '') return id
  throw new TypeError(
    `createScorer: expected an id beside a name without letters from a to z, got ${formatValue(name)}.`,
  )
}

const ALL_NEEDS: readonly Need[] = [
  'input',
  'output',
  'systemInstructions',
  'toolNames',
  'toolArguments',
  'toolResults',
  'documents',
  'availableTools',
  'steps',
  'groundTruth',
]
