import { contentFree, explain } from '../../../model/explanation.ts'
import { inquire } from '../../../judge/judging.ts'
import { conversationSections } from '../../../judge/prompt/render-conversation.ts'
import type { Finding } from '../../../model/finding.ts'
import type { Scorer } from '../../../scoring/scorer.ts'
import type { KeysOf } from '../../read-options.ts'
import { skip } from '../../skip.ts'
import { twoDecimals } from '../../two-decimals.ts'
import { defineJudgeScorer, explainFindings, judgeKeys, readJudgeOptions, shorten } from '../judge-scorer.ts'
import type { JudgeScorerOptions } from '../judge-scorer.ts'
import { judgedConversation, turnsLeftOut } from './judged-conversation.ts'

const KNOWN: KeysOf<JudgeScorerOptions> = judgeKeys

/** The verdicts on a fact, best first. */
const VERDICTS = ['kept', 'not_needed', 'asked_again', 'contradicted'] as const

/** What the user said about themselves and their case, and whether the agent kept it in mind. */
export interface KnowledgeRetentionAnalysis {
  /** The facts, in the judge's order. */
  readonly facts: readonly {
    readonly fact: string
    readonly verdict: (typeof VERDICTS)[number]
    readonly reasoning: string
  }[]
}

const MAX_FACTS = 20

const role =
  'You judge whether an agent keeps in mind what a user has said earlier in their conversation, in what it says and in the arguments of its calls. Only what the user stated counts, not what the agent found out by itself.'
const instruction =
  'a fact that the user stated about themselves, their wishes or their case before the last turn, in a few words, such as an order number, a name, a date or a preference; questions and requests are none'
const question =
  'Did the agent keep this fact in mind? "kept" if it used the fact in a later turn, or did there what fits it; "asked_again" if it asked for it after the user had stated it; "contradicted" if it said or did what does not fit it; "not_needed" if the fact mattered in no later turn. If it did well in one place and badly in another, the bad one counts.'

/**
 * Knowledge retention, by a judge: whether the agent keeps in mind what the user has said.
 *
 * Score: of the facts that the user stated and that mattered later, at most 20, the share that the agent kept in mind, and neither asked
 * for again nor contradicted; two decimals. Without any, `skipped: not-applicable`; if turns are missing, `skipped: incomplete`. One judge
 * call.
 *
 * @example
 * ```ts
 * const scorer = createKnowledgeRetentionScorer({ model: 'openai/gpt-5-mini' })
 * ```
 *
 * @throws TypeError if the model or an option is invalid or unknown
 */
export function createKnowledgeRetentionScorer(
  options: JudgeScorerOptions,
): Scorer<unknown, KnowledgeRetentionAnalysis> {
  const { id = 'knowledge_retention' } = readJudgeOptions('createKnowledgeRetentionScorer', options, KNOWN)
  return defineJudgeScorer<KnowledgeRetentionAnalysis>({
    id,
    description: 'Share of what the user stated that the agent kept in mind.',
    level: 'conversation',
    options,
    calls: 1,
    identity: { prompts: [role, instruction, question, VERDICTS] },
    readsHandOver: true,
    needs: ['input', 'output', 'systemInstructions', 'toolNames', 'toolArguments', 'toolResults'],
    drafts: ({ conversation }) => (conversation === undefined ? [] : conversationSections(conversation)),
    assess: async (run, session, context) => {
      const conversation = judgedConversation(run, id)
      if ('status' in conversation) return conversation
      if (conversation.turns.length < 2) {
        return skip('not-applicable', contentFree(`${id}: the conversation has one turn.`))
      }
      const asked = await inquire(session, {
        role,
        sections: conversationSections(conversation, context),
        questions: [],
        lists: [
          { name: 'facts', prefix: 'f', instruction, question: { text: question, verdicts: VERDICTS }, max: MAX_FACTS },
        ],
      })
      if (!asked.ok) return asked.score
      const facts = (asked.value.items.get('facts') ?? []).map(({ text, answer }) => {
        const verdict = VERDICTS.find((known) => known === answer?.verdict)
        if (verdict === undefined) throw new Error('expected a verdict on every fact')
        return { fact: text, verdict, reasoning: answer?.reasoning ?? '' }
      })
      const needed = facts.filter(({ verdict }) => verdict !== 'not_needed')
      if (needed.length === 0) {
        return skip('not-applicable', contentFree(`${id}: the user stated nothing that mattered later.`))
      }
      const kept = needed.filter(({ verdict }) => verdict === 'kept').length
      const findings = facts.map(({ fact, verdict, reasoning }): Finding => ({
        about: 'fact',
        verdict,
        rating: verdict === 'kept' ? 'good' : verdict === 'not_needed' ? 'open' : 'bad',
        text: fact,
        reason: reasoning,
      }))
      const lost = explainFindings(findings.filter(({ rating }) => rating === 'bad'))
      return {
        status: 'scored',
        value: twoDecimals(kept / needed.length),
        explanation: shorten(
          explain`${kept} of ${needed.length} facts kept in mind.${lost}${contentFree(turnsLeftOut(conversation))}`,
        ),
        findings,
        analyzeStepResult: { facts },
      }
    },
  })
}
