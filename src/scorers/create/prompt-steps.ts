import { Judge } from '../../judge/judge.ts'
import { valuePromptScaffold } from '../../judge/prompt/value-prompt.ts'
import { openSession } from '../../judge/judging.ts'
import type { JudgeSession } from '../../judge/session.ts'
import { sumReports } from '../../judge/spending.ts'
import type { AgentRun } from '../../model/agent-run.ts'
import type { JudgeReport } from '../../model/score.ts'
import type { Reads } from '../../scoring/reads.ts'
import { callsAt } from '../../scoring/call-scores.ts'
import type { Scorer, ScorerJudge, ScoringContext } from '../../scoring/scorer.ts'
import { judgeSettingKeys } from '../judge/judge-scorer.ts'
import { expectOption, isTextOrNone, readOptions } from '../read-options.ts'
import type { KeysOf } from '../read-options.ts'
import type { OutputSchema, PromptStep, StepJudge } from './scorer-steps.ts'
import { toJsonSchema, validateOutput } from './output-schema.ts'
import type { JsonSchema } from './output-schema.ts'
import { skipped } from '../../scoring/unscored.ts'
import { contentFree } from '../../model/explanation.ts'

/** The shape of a reply if the step has no schema. */
export interface DefaultShape {
  readonly schema: OutputSchema<unknown>
  readonly example: unknown
}

/** The shape of the reply to `generateScore`, including the range. */
export function scoreShape([low, high]: readonly [number, number]): DefaultShape {
  const score = { type: 'number', description: `from ${low} to ${high}` }
  return { schema: objectOf({ score }), example: { score: low } }
}

/** The shape of the reply to `generateReason`. */
export const REASON_SHAPE: DefaultShape = {
  schema: objectOf({ reason: { type: 'string' } }),
  example: { reason: 'one or two sentences' },
}

function objectOf(properties: Readonly<Record<string, object>>): OutputSchema<unknown> {
  return { type: 'object', properties, required: Object.keys(properties), additionalProperties: false }
}

/** A prompt step of any type. */
export type AnyPromptStep = Omit<PromptStep<Readonly<Record<string, unknown>>, unknown>, 'outputSchema'> & {
  readonly outputSchema?: OutputSchema<unknown>
}

const JUDGE_KEYS: KeysOf<StepJudge> = { ...judgeSettingKeys, model: true, instructions: true }

/**
 * The judge of a scorer, or of one step.
 *
 * @throws TypeError if it is not a judge, or has an unknown setting
 */
export function readStepJudge(subject: string, judge: StepJudge): StepJudge {
  const { instructions } = readOptions(`${subject} judge`, judge, JUDGE_KEYS)
  expectOption(isTextOrNone(instructions), subject, 'judge.instructions to be a string', instructions)
  return judge
}

/** Asks the judge for one score's prompt steps. */
export interface StepAsker {
  /** Returns a reply that is valid by the step's schema, or the score that says why there is none. */
  ask(
    step: AnyPromptStep,
    context: Readonly<Record<string, unknown>>,
    defaultShape: DefaultShape | undefined,
  ): Promise<unknown>
  /** Usage and cost of all calls so far; `undefined` if there was none. */
  report(): JudgeReport | undefined
}

/** Most calls of a run about which prompt steps of a scorer of calls ask: they ask once for each. */
export const MAX_ASKED_CALLS = 50

/** The judge of a scorer with prompt steps. */
export interface StepJudging {
  readonly judge: ScorerJudge
  readonly identity: unknown
  asker(reads: Reads, context: ScoringContext): StepAsker
}

/**
 * Creates the judge of prompt steps; `undefined` if no step is a prompt.
 *
 * @throws TypeError if a step has no judge or no schema
 */
export function createStepJudging(
  { id, level }: Pick<Scorer, 'id' | 'level'>,
  steps: readonly AnyPromptStep[],
  judge: StepJudge | undefined,
): StepJudging | undefined {
  const asked = steps.map((step) => {
    const itsJudge = step.judge ?? judge
    if (itsJudge === undefined) {
      throw new TypeError(
        `createScorer ${id}: expected judge: { model } for the prompt "${step.description}", got none.`,
      )
    }
    const settings = readStepJudge(`createScorer ${id}`, itsJudge)
    return { step, settings, judge: new Judge(settings.model, settings, `createScorer ${id}: expected`) }
  })
  const [first] = asked
  if (first === undefined) return undefined
  return {
    judge: first.judge.toScorerJudge((run) => {
      const times = level === 'run' ? 1 : Math.min(callsAt(run, level).length, MAX_ASKED_CALLS)
      return { calls: steps.length * times, contentBytes: contentLength(run), answers: 0 }
    }),
    identity: asked.map(({ step, settings, judge: itsJudge }) => ({
      judge: itsJudge.identity,
      scaffold: valuePromptScaffold(),
      instructions: settings.instructions,
      description: step.description,
    })),
    asker: (reads, context) => {
      const { run } = reads
      const sessions = new Map<StepJudge, JudgeSession>()
      return {
        async ask(step, stepContext, defaultShape) {
          const known = asked.find((one) => one.step === step) ?? first
          const session = sessions.get(known.settings) ?? (await openSession(known.judge, id, run.id, context))
          sessions.set(known.settings, session)
          const outputSchema = step.outputSchema ?? defaultShape?.schema
          if (outputSchema === undefined) throw new TypeError(`${id}: "${step.description}" has no outputSchema.`)
          let schema: JsonSchema
          try {
            schema = await toJsonSchema(outputSchema)
          } catch (error) {
            // What converts schemas comes with the provider's package. Where that is missing, the judge says what to install.
            const unavailable = known.judge.connect().unavailable()
            if (unavailable === undefined) throw error
            return skipped('judge-unavailable', contentFree(unavailable))
          }
          const createPrompt = (quote: (text: string) => string): string => {
            const prompt = step.createPrompt({ ...stepContext, quote })
            if (reads.absence !== undefined) throw new Error('A prompt about a fact that the run lacks is not sent.')
            return prompt
          }
          const { askValue } = await import('../../judge/ask-value.ts')
          const { exampleOf } = await import('./example-of.ts')
          const outcome = await askValue(session, {
            instructions:
              known.settings.instructions ?? 'You are a careful and impartial judge of the work of AI agents.',
            createPrompt,
            schema,
            validate: (value) => validateOutput(outputSchema, schema, value),
            example: (step.outputSchema === undefined ? defaultShape?.example : undefined) ?? exampleOf(schema),
          })
          return outcome.ok ? outcome.value : outcome.score
        },
        report: () => sumReports([...sessions.values()].flatMap((session) => session.report() ?? [])),
      }
    },
  }
}

/** The length of what a prompt usually quotes: question, answer and instructions. */
function contentLength({ userInput = '', output = '', systemInstructions = '' }: AgentRun): number {
  return userInput.length + output.length + systemInstructions.length
}
