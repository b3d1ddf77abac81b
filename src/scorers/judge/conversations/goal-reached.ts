import { contentFree, contentOnly, explain, joinExplanations } from '../../../model/explanation.ts'
import { inquire } from '../../../judge/judging.ts'
import { conversationSection } from '../../../judge/prompt/render-conversation.ts'
import type { Scorer } from '../../../scoring/scorer.ts'
import { expectOption, expectTexts } from '../../read-options.ts'
import type { KeysOf } from '../../read-options.ts'
import { skip } from '../../skip.ts'
import { twoDecimals } from '../../two-decimals.ts'
import { defineJudgeScorer, judgeKeys, ratingOf, readJudgeOptions, shorten } from '../judge-scorer.ts'
import type { JudgeScorerOptions } from '../judge-scorer.ts'
import { judgedConversation, turnsLeftOut } from './judged-conversation.ts'

/** Options of `createGoalReachedScorer`. */
export interface GoalReachedScorerOptions extends JudgeScorerOptions {
  /** What the users of this agent want, at most 8. They are trusted text. @default the judge finds the goals in the user's messages */
  readonly goals?: readonly string[]
  /** Tools that hand the user over to a person. If a call of one succeeded, the score is 0 and no judge is asked. @default none */
  readonly handOver?: readonly string[]
}

const KNOWN: KeysOf<GoalReachedScorerOptions> = { ...judgeKeys, goals: true, handOver: true }

/** The verdicts on a goal, best first. */
const VERDICTS = ['reached', 'withdrawn', 'partly', 'not'] as const
type GoalVerdict = (typeof VERDICTS)[number]

/** What the user wanted, and what came of it. */
export interface GoalReachedAnalysis {
  /** The goals, in the judge's order or that of the option. */
  readonly goals: readonly { readonly goal: string; readonly verdict: GoalVerdict; readonly reasoning: string }[]
}

const MAX_GOALS = 8

const role =
  'You judge whether a user got what they came for, by the whole conversation of a user and an agent. Believe what the agent claims, unless the outcomes of its tools or the user say otherwise.'
const instruction =
  'what the user wanted to get done or to find out, taken from the messages of the user alone, each in a few words; a question that only serves a goal is not a goal of its own'
const question =
  'Was this goal reached at the end of the conversation? "reached" if the user got all of it; "partly" if a part is missing; "not" if the user did not get it, or was sent elsewhere; "withdrawn" if the user no longer wanted it, for reasons of their own.'

const COUNTS = { reached: 1, partly: 0.5, not: 0 } as const

/**
 * Goals of a conversation, by a judge: whether the user got what they came for.
 *
 * Score: the mean over the user's goals, at most 8: reached 1, partly 0.5, not 0. Goals that the user no longer wanted do not count; without
 * any, `skipped: not-applicable`. If turns are missing, `skipped: incomplete`. One judge call.
 *
 * @example
 * ```ts
 * const scorer = createGoalReachedScorer({ model: 'openai/gpt-5-mini', handOver: ['transfer_to_human'] })
 * ```
 *
 * @throws TypeError if the model or an option is invalid or unknown
 */
export function createGoalReachedScorer(options: GoalReachedScorerOptions): Scorer<unknown, GoalReachedAnalysis> {
  const factory = 'createGoalReachedScorer'
  const { id = 'goal_reached', goals = [], handOver = [] } = readJudgeOptions(factory, options, KNOWN)
  expectTexts(factory, 'goals', goals)
  expectOption(goals.length <= MAX_GOALS, factory, `goals to be at most ${MAX_GOALS}`, goals)
  expectTexts(factory, 'handOver', handOver)
  return defineJudgeScorer<GoalReachedAnalysis>({
    id,
    description: 'How many of their goals the user reached in the conversation.',
    level: 'conversation',
    options,
    calls: 1,
    answers: () => goals.length,
    identity: { goals, handOver, prompts: [role, instruction, question, VERDICTS] },
    needs: ['input', 'output', 'toolNames'],
    drafts: ({ conversation }) => (conversation === undefined ? [] : conversationSection(conversation)),
    assess: async (run, session) => {
      const conversation = judgedConversation(run, id)
      if ('status' in conversation) return conversation
      const handedOver = run.toolCalls.find(({ name, status }) => status === 'ok' && handOver.includes(name))
      if (handedOver !== undefined) {
        return {
          status: 'scored',
          value: 0,
          explanation: explain`The user was handed over to a person by ${handedOver.name}.`,
          analyzeStepResult: { goals: [] },
        }
      }
      const asked = await inquire(session, {
        role,
        sections: conversationSection(conversation),
        questions: goals.map((goal, index) => ({
          ids: [`goal_${index + 1}`],
          text: `The goal is: ${goal.replaceAll(/\s+/g, ' ')}. ${question}`,
          verdicts: VERDICTS,
        })),
        ...(goals.length === 0 && {
          lists: [
            {
              name: 'goals',
              prefix: 'g',
              instruction,
              question: { text: question, verdicts: VERDICTS },
              max: MAX_GOALS,
            },
          ],
        }),
      })
      if (!asked.ok) return asked.score
      const answered =
        goals.length > 0
          ? goals.map((text, index) => ({ text, answer: asked.value.answers.get(`goal_${index + 1}`) }))
          : (asked.value.items.get('goals') ?? [])
      const judged = answered.map(({ text, answer }) => {
        const verdict = VERDICTS.find((known) => known === answer?.verdict)
        if (verdict === undefined) throw new Error('expected a verdict on every goal')
        return { goal: text, verdict, reasoning: answer?.reasoning ?? '' }
      })
      const counted = judged.flatMap(({ verdict }) => (verdict === 'withdrawn' ? [] : [COUNTS[verdict]]))
      if (counted.length === 0) {
        return skip('not-applicable', contentFree(`${id}: the user wanted nothing that could be reached.`))
      }
      const others = judged
        .filter(({ verdict }) => verdict !== 'reached')
        .map(({ goal, verdict, reasoning }) => {
          const because = reasoning === '' ? '' : `: ${reasoning}`
          return explain`${contentFree(verdict === 'not' ? 'not reached' : verdict)}${contentOnly(` (${goal}${because})`)}`
        })
      const reached = judged.filter(({ verdict }) => verdict === 'reached').length
      const rest = others.length === 0 ? contentFree('') : explain` ${joinExplanations(others, '; ')}.`
      return {
        status: 'scored',
        value: twoDecimals(counted.reduce<number>((sum, each) => sum + each, 0) / counted.length),
        explanation: shorten(
          explain`${reached} of ${counted.length} goals reached.${rest}${contentFree(turnsLeftOut(conversation))}`,
        ),
        findings: judged.map(({ goal, verdict, reasoning }) => ({
          about: 'goal',
          verdict,
          rating: verdict === 'withdrawn' ? 'open' : ratingOf(COUNTS[verdict]),
          text: goal,
          reason: reasoning,
        })),
        analyzeStepResult: { goals: judged },
      }
    },
  })
}
