import { contentFree, contentOnly, explain, joinExplanations } from '../../../model/explanation.ts'
import type { Explanation } from '../../../model/explanation.ts'
import type { AgentRun } from '../../../model/agent-run.ts'
import type { Finding } from '../../../model/finding.ts'
import type { Skipped } from '../../../model/score.ts'
import { inquire } from '../../../judge/judging.ts'
import type { Answers } from '../../../judge/inquiry.ts'
import { recordSections } from '../../../judge/prompt/render-conversation.ts'
import type { Scorer, ScoringContext } from '../../../scoring/scorer.ts'
import { expectOption, expectTexts } from '../../read-options.ts'
import type { KeysOf } from '../../read-options.ts'
import { expectLevel } from '../../scorer-options.ts'
import type { LevelOption } from '../../scorer-options.ts'
import { skip } from '../../skip.ts'
import { twoDecimals } from '../../two-decimals.ts'
import { judgedConversation, turnsLeftOut } from '../conversations/judged-conversation.ts'
import {
  defineJudgeScorer,
  judgeKeys,
  ratingOf,
  readJudgeOptions,
  shorten,
  skipUnjudgeable,
  textOr,
} from '../judge-scorer.ts'
import type { JudgeScorerOptions, JudgeVerdict } from '../judge-scorer.ts'
import { goalList, goalVerdicts, MAX_GOALS, oversteppedQuestion, resolutionPrompts, toldList } from './questions.ts'
import type { GoalVerdict } from './questions.ts'

/** Options of `createResolutionScorer`. */
export interface ResolutionScorerOptions extends JudgeScorerOptions, LevelOption {
  /** Whether whole conversations are judged, or each run by itself. @default 'conversation' */
  readonly level?: 'run' | 'conversation'
  /** What the users of this agent want, at most 8. They are trusted text. @default the judge finds the goals in the user's messages */
  readonly goals?: readonly string[]
}

const KNOWN: KeysOf<ResolutionScorerOptions> = { ...judgeKeys, level: true, goals: true }

/** What the user wanted, and what came of it. */
export interface ResolutionAnalysis {
  /** The goals, in the judge's order or that of the option. */
  readonly goals: readonly { readonly goal: string; readonly verdict: GoalVerdict; readonly reasoning: string }[]
  /** Whether the agent changed what nobody had asked for, or what its instructions forbid. */
  readonly overstepped: { readonly verdict: 'yes' | 'no'; readonly reasoning: string }
  /** What the agent told the user and was not so. */
  readonly toldWrongly: readonly string[]
  /** The share of counted goals that were done; absent if none counts. */
  readonly done?: number
}

/** What a goal counts; the others do not count. */
const COUNTS: Partial<Record<GoalVerdict, number>> = { done: 1, declined: 1, partly: 0.5, not: 0, wrong: 0 }

/**
 * Resolution, by a judge: whether the agent handled rightly what the user wanted, by its own instructions and by what its tools returned.
 *
 * The judge sees instructions, messages, and calls with arguments and results. Score: the mean over the user's goals, at most 8: done, and
 * rightly declined, 1; partly 0.5; not done, and wrongly done, 0. Goals that the user withdrew and those that wait for the user do not count;
 * without any other, `skipped: not-applicable`. It passes if every counted goal was done or rightly declined, and the agent changed nothing
 * that nobody had asked for or that its instructions forbid; otherwise it fails. If no goal counts and it did, the score is 0. One judge
 * call.
 *
 * @example
 * ```ts
 * const scorer = createResolutionScorer({ model: 'openai/gpt-5-mini' })
 * ```
 *
 * @throws TypeError if the model or an option is invalid or unknown
 */
export function createResolutionScorer(options: ResolutionScorerOptions): Scorer<unknown, ResolutionAnalysis> {
  const factory = 'createResolutionScorer'
  const { id = 'resolution', level = 'conversation', goals = [] } = readJudgeOptions(factory, options, KNOWN)
  expectLevel(factory, level)
  expectTexts(factory, 'goals', goals)
  expectOption(goals.length <= MAX_GOALS, factory, `goals to be at most ${MAX_GOALS}`, goals)
  return defineJudgeScorer<ResolutionAnalysis>({
    id,
    description: 'Whether the agent handled rightly what the user wanted.',
    level,
    options,
    calls: 1,
    answers: () => goals.length + 1,
    identity: { goals, prompts: [resolutionPrompts, goalVerdicts, COUNTS] },
    readsHandOver: true,
    needs: ['input', 'output', 'systemInstructions', 'toolNames', 'toolArguments', 'toolResults', 'documents'],
    drafts: (run) => recordSections(run, {}),
    assess: async (run, session, context) => {
      const unfit = unjudgeable(run, context, id)
      if (unfit !== undefined) return unfit
      const asked = await inquire(session, {
        role: resolutionPrompts.role,
        sections: recordSections(run, context),
        questions: [
          ...goals.map((goal, index) => ({
            ids: [goalId(index)],
            text: `The goal is: ${goal.replaceAll(/\s+/g, ' ')}. ${resolutionPrompts.goal}`,
            verdicts: goalVerdicts,
          })),
          oversteppedQuestion,
        ],
        lists: [...(goals.length === 0 ? [goalList] : []), toldList],
      })
      return asked.ok ? scoreResolution(run, analyse(asked.value, goals), id) : asked.score
    },
  })
}

/** Why nobody can be asked. */
function unjudgeable(run: AgentRun, context: ScoringContext, id: string): Skipped | undefined {
  if (run.conversation !== undefined) {
    const conversation = judgedConversation(run, id)
    return 'status' in conversation ? conversation : undefined
  }
  const request = textOr(run, 'userInput', id)
  return skipUnjudgeable(run, context, id) ?? (typeof request === 'string' ? undefined : request)
}

function goalId(index: number): string {
  return `goal_${index + 1}`
}

function analyse({ answers, items }: Answers, given: readonly string[]): ResolutionAnalysis {
  const answered =
    given.length > 0
      ? given.map((text, index) => ({ text, answer: answers.get(goalId(index)) }))
      : (items.get(goalList.name) ?? [])
  const goals = answered.map(({ text, answer }) => {
    const verdict = goalVerdicts.find((known) => known === answer?.verdict)
    if (verdict === undefined) throw new Error('expected a verdict on every goal')
    return { goal: text, verdict, reasoning: answer?.reasoning ?? '' }
  })
  const overstepped = answers.get('overstepped')
  const counted = goals.filter(({ verdict }) => COUNTS[verdict] !== undefined)
  return {
    goals,
    overstepped: { verdict: overstepped?.verdict === 'yes' ? 'yes' : 'no', reasoning: overstepped?.reasoning ?? '' },
    toldWrongly: (items.get(toldList.name) ?? []).map(({ text }) => text),
    ...(counted.length > 0 && {
      done: twoDecimals(counted.filter(({ verdict }) => verdict === 'done').length / counted.length),
    }),
  }
}

function scoreResolution(run: AgentRun, analysis: ResolutionAnalysis, id: string): JudgeVerdict<ResolutionAnalysis> {
  const { goals, overstepped } = analysis
  const counts = goals.flatMap(({ verdict }) => COUNTS[verdict] ?? [])
  const isOverstepped = overstepped.verdict === 'yes'
  if (counts.length === 0 && !isOverstepped) {
    return skip('not-applicable', contentFree(`${id}: the user wanted nothing that could be judged yet.`))
  }
  const value = counts.length === 0 ? 0 : twoDecimals(counts.reduce((sum, each) => sum + each, 0) / counts.length)
  const passes = counts.length > 0 && counts.every((count) => count === 1) && !isOverstepped
  return {
    status: 'scored',
    value,
    label: passes ? 'pass' : 'fail',
    explanation: shorten(explainResolution(run, analysis)),
    findings: findingsOf(analysis),
    analyzeStepResult: analysis,
  }
}

/** The goals, what was overstepped, and what was told wrongly. */
function findingsOf({ goals, overstepped, toldWrongly }: ResolutionAnalysis): readonly Finding[] {
  const beyond: Finding[] =
    overstepped.verdict === 'no'
      ? []
      : [{ about: 'overstep', verdict: 'overstepped', rating: 'bad', text: overstepped.reasoning }]
  return [
    ...goals.map(({ goal, verdict, reasoning }): Finding => {
      const count = COUNTS[verdict]
      const rating = count === undefined ? 'open' : ratingOf(count)
      return { about: 'goal', verdict, rating, text: goal, reason: reasoning }
    }),
    ...beyond,
    ...toldWrongly.map((text): Finding => ({ about: 'statement', verdict: 'told_wrongly', rating: 'open', text })),
  ]
}

function explainResolution({ conversation }: AgentRun, analysis: ResolutionAnalysis): Explanation {
  const { goals, overstepped, toldWrongly } = analysis
  const counted = goals.filter(({ verdict }) => COUNTS[verdict] !== undefined)
  const right = counted.filter(({ verdict }) => COUNTS[verdict] === 1)
  const others = goals
    .filter(({ verdict }) => verdict !== 'done')
    .map(({ goal, verdict, reasoning }) => explain`${contentFree(WORDS[verdict])}${quote(goal, reasoning)}`)
  const sentences = [
    explain`${right.length} of ${counted.length} goals handled rightly.`,
    ...(overstepped.verdict === 'yes' ? [explain` Overstepped${quote(overstepped.reasoning)}.`] : []),
    ...(others.length === 0 ? [] : [explain` ${joinExplanations(others, '; ')}.`]),
    ...(toldWrongly.length === 0 ? [] : [contentOnly(` Told wrongly: ${toldWrongly.join('; ')}.`)]),
    ...(conversation === undefined ? [] : [contentFree(turnsLeftOut(conversation))]),
  ]
  return joinExplanations(sentences, '')
}

/** The verdicts in words. */
const WORDS: Readonly<Record<GoalVerdict, string>> = {
  done: 'done',
  declined: 'rightly declined',
  withdrawn: 'withdrawn',
  open: 'waits for the user',
  partly: 'partly done',
  not: 'not done',
  wrong: 'wrongly done',
}

function quote(...texts: readonly string[]): Explanation {
  const said = texts.filter((text) => text !== '')
  return contentOnly(said.length === 0 ? '' : ` (${said.join(': ')})`)
}
