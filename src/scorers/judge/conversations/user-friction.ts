import { contentFree, contentOnly, explain, joinExplanations } from '../../../model/explanation.ts'
import { inquire } from '../../../judge/judging.ts'
import { conversationSections, shownTurns } from '../../../judge/prompt/render-conversation.ts'
import type { Conversation } from '../../../model/agent-run.ts'
import type { Scorer } from '../../../scoring/scorer.ts'
import { expectOption } from '../../read-options.ts'
import type { KeysOf } from '../../read-options.ts'
import { skip } from '../../skip.ts'
import { twoDecimals } from '../../two-decimals.ts'
import { defineJudgeScorer, judgeKeys, readJudgeOptions, shorten } from '../judge-scorer.ts'
import type { JudgeScorerOptions } from '../judge-scorer.ts'
import { judgedConversation, turnsLeftOut } from './judged-conversation.ts'

/** How a user reacts to an answer, if not by going on. */
export type Friction =
  /** They ask again for what they did not get. */
  | 'repeats'
  /** They say that something is wrong or was not meant. */
  | 'corrects'
  /** They are annoyed, or blame the agent. */
  | 'complains'
  /** They stop trying, or ask for a person. */
  | 'gives_up'

/** Options of `createUserFrictionScorer`. */
export interface UserFrictionScorerOptions extends JudgeScorerOptions {
  /** The reactions that count. @default all four */
  readonly count?: readonly Friction[]
}

const KNOWN: KeysOf<UserFrictionScorerOptions> = { ...judgeKeys, count: true }

const FRICTIONS: readonly Friction[] = ['repeats', 'corrects', 'complains', 'gives_up']
const VERDICTS = ['moves_on', ...FRICTIONS] as const

/** How the user reacted in each message after the first. */
export interface UserFrictionAnalysis {
  /** The messages after the first, in order. */
  readonly messages: readonly {
    /** The index in `conversation.turns`. */
    readonly turn: number
    readonly verdict: 'moves_on' | Friction
    readonly reasoning: string
  }[]
}

const role =
  'You judge how a user reacts to what an agent did and answered, message by message. Only what the user writes counts: an answer may be bad without the user minding, and a polite user may still have to ask again.'
const question =
  'How does the user react in the message of this turn to what the agent did before? "moves_on" if they go on, thank, answer a question of the agent, or ask something new; "repeats" if they ask again for what they did not get; "corrects" if they say that something is wrong or was not meant; "complains" if they are annoyed or blame the agent; "gives_up" if they stop trying, or ask for a person instead. If several fit, choose the last one in this order.'

/**
 * Friction in a conversation, by a judge: the share of the user's messages after the first in which they ask again, correct the agent,
 * complain, or give up.
 *
 * Score: these messages ÷ all messages after the first, two decimals. Lower is better. With `count: ['corrects']` it is the share of answers that
 * users call wrong. Without a second message, `skipped: not-applicable`; if turns are missing, `skipped: incomplete`. The judge sees the
 * first 5 and the last 50 turns. One judge call.
 *
 * @example
 * ```ts
 * const scorer = createUserFrictionScorer({ model: 'openai/gpt-5-mini' })
 * ```
 *
 * @throws TypeError if the model or an option is invalid or unknown
 */
export function createUserFrictionScorer(options: UserFrictionScorerOptions): Scorer<unknown, UserFrictionAnalysis> {
  const factory = 'createUserFrictionScorer'
  const { id = 'user_friction', count = FRICTIONS } = readJudgeOptions(factory, options, KNOWN)
  const isCount = Array.isArray(count) && count.length > 0 && count.every((each) => FRICTIONS.includes(each))
  expectOption(isCount, factory, `count to be a list of ${FRICTIONS.join(', ')}`, count)
  return defineJudgeScorer<UserFrictionAnalysis>({
    id,
    description: "Share of the user's messages that ask again, correct, complain or give up.",
    level: 'conversation',
    options,
    calls: 1,
    better: 'lower',
    answers: ({ conversation }) => (conversation === undefined ? 0 : reactionsIn(conversation).length),
    identity: { count, prompts: [role, question, VERDICTS] },
    readsHandOver: true,
    needs: ['input', 'output', 'systemInstructions', 'toolNames', 'toolArguments', 'toolResults'],
    drafts: ({ conversation }) => (conversation === undefined ? [] : conversationSections(conversation)),
    assess: async (run, session, context) => {
      const conversation = judgedConversation(run, id)
      if ('status' in conversation) return conversation
      const turns = reactionsIn(conversation)
      if (turns.length === 0) {
        return skip('not-applicable', contentFree(`${id}: the user wrote no second message.`))
      }
      const asked = await inquire(session, {
        role,
        sections: conversationSections(conversation, context),
        questions: [{ ids: turns.map(promptTurnId), text: question, verdicts: VERDICTS }],
      })
      if (!asked.ok) return asked.score
      const messages = turns.map((turn) => {
        const answer = asked.value.answers.get(promptTurnId(turn))
        const verdict = VERDICTS.find((known) => known === answer?.verdict)
        if (verdict === undefined) throw new Error('expected a verdict on every message')
        return { turn, verdict, reasoning: answer?.reasoning ?? '' }
      })
      const frictions = messages.flatMap((message) =>
        message.verdict !== 'moves_on' && count.includes(message.verdict) ? [message] : [],
      )
      const named = frictions.slice(0, MAX_NAMED).map(({ turn, verdict, reasoning }) => {
        const because = reasoning === '' ? '' : ` (${reasoning})`
        return explain`turn ${turn + 1} ${contentFree(verdict)}${contentOnly(because)}`
      })
      const rest = named.length === 0 ? contentFree('.') : explain`: ${joinExplanations(named, '; ')}.`
      return {
        status: 'scored',
        value: twoDecimals(frictions.length / messages.length),
        explanation: shorten(
          explain`Friction in ${frictions.length} of ${messages.length} messages${rest}${contentFree(turnsLeftOut(conversation))}`,
        ),
        findings: messages.map((message) => ({
          about: 'message',
          verdict: message.verdict,
          rating: message.verdict === 'moves_on' ? 'good' : frictions.includes(message) ? 'bad' : 'open',
          text: `Turn ${message.turn + 1}`,
          reason: message.reasoning,
          places: [{ in: 'turn', index: message.turn }],
        })),
        analyzeStepResult: { messages },
      }
    },
  })
}

const MAX_NAMED = 8

function promptTurnId(turn: number): string {
  return `turn_${turn + 1}`
}

/** The turns in which the user reacts to an answer, and which the judge is shown. */
function reactionsIn(conversation: Conversation): readonly number[] {
  return shownTurns(conversation).filter((turn) => turn > 0 && conversation.turns[turn]?.user !== undefined)
}
