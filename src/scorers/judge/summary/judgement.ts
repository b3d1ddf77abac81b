import { contentOnly, explain } from '../../../model/explanation.ts'
import type { Explanation } from '../../../model/explanation.ts'
import { inquire } from '../../../judge/judging.ts'
import type { Item, ItemList } from '../../../judge/inquiry.ts'
import { mainSection } from '../../../judge/prompt/render-run.ts'
import type { JudgeOutcome } from '../../../judge/outcome.ts'
import type { JudgeSession } from '../../../judge/session.ts'
import { claimList, claimVerdicts, isSupported, labelOfClaims } from '../items/claims.ts'
import type { ClaimVerdict } from '../items/claims.ts'
import { shareOfScale, twoDecimals } from '../../two-decimals.ts'

/** The judge's findings about a summary; scores are 0 to 1, two decimals. */
export interface SummarizationAnalysis {
  /** The share of claims that the source supports, harmless ones included. */
  readonly alignmentScore: number
  /** The share of questions that the summary answers too. */
  readonly coverageScore: number
  /** The summary's claims, compared with the source. */
  readonly claims: readonly {
    readonly claim: string
    readonly verdict: ClaimVerdict
    readonly reasoning: string
  }[]
  /** Questions that the source answers, and whether the summary does. */
  readonly questions: readonly {
    readonly question: string
    readonly isAnswerable: boolean
    readonly reasoning: string
  }[]
}

/** The judgement of a summary, before it is scaled. */
export interface SummaryJudgement extends SummarizationAnalysis {
  /** `min(alignment, coverage)`, from the unrounded parts. */
  readonly score: number
  /** Set if the summary fails by its claims, whatever its score. */
  readonly label?: 'fail'
}

/** All texts of the two prompts, which are part of the version. */
export const summaryPrompts: Readonly<
  Record<'alignmentRole' | 'question' | 'coverageRole' | 'coverageQuestion', string>
> = {
  alignmentRole:
    'You check a summary against its source, and against nothing else: what you know yourself does not count. First list the claims of the summary and compare each with the source; then list the questions that a good summary of the source must answer.',
  question:
    'closed questions about the most important facts of the source, which are answered with yes by anybody who has read it; made from the source alone, whether the summary answers them or not; without who said or found it, unless that is what matters',
  coverageRole:
    'You are given a summary and a list of questions. Say of each question whether the summary alone answers it with yes. Use no other knowledge.',
  coverageQuestion:
    'the question with this id in the section "the questions". "yes" if the summary says what is needed to answer it with yes; "no" if it does not, or says otherwise.',
}

/**
 * Judges a summary in two calls. The second must not see the source, because the judge would read its content into the summary.
 */
export async function judgeSummary(
  session: JudgeSession,
  source: string,
  summary: string,
  maxQuestions: number,
): Promise<JudgeOutcome<SummaryJudgement>> {
  const first = await inquire(session, {
    role: summaryPrompts.alignmentRole,
    sections: [mainSection('the source', source), mainSection('the summary', summary)],
    questions: [],
    lists: [summaryClaims, questionList(maxQuestions)],
  })
  if (!first.ok) return first
  const claims = first.value.items.get('claims') ?? []
  const questions = first.value.items.get('questions') ?? []
  const second = await inquire(session, {
    role: summaryPrompts.coverageRole,
    sections: [
      mainSection('the summary', summary),
      {
        title: 'the questions',
        fragments: questions.flatMap(({ id, text }) => [{ text: `${id}: ` }, { text, cut: 'judged' }, { text: '\n' }]),
      },
    ],
    questions: [
      {
        ids: questions.map(({ id }) => id),
        text: summaryPrompts.coverageQuestion,
        verdicts: ['yes', 'no'],
      },
    ],
  })
  if (!second.ok) return second
  const answered = questions.map((item): Item => {
    const answer = second.value.answers.get(item.id)
    return answer === undefined ? item : { ...item, answer }
  })
  const judgedClaims = claims.map(({ text, answer }) => ({
    claim: text,
    verdict: claimVerdicts.find((verdict) => verdict === answer?.verdict) ?? 'not_stated',
    reasoning: answer?.reasoning ?? '',
  }))
  const alignment = judgedClaims.filter(({ verdict }) => isSupported(verdict)).length / claims.length
  const coverage = answered.filter(({ answer }) => answer?.verdict === 'yes').length / questions.length
  return {
    ok: true,
    value: {
      score: Math.min(alignment, coverage),
      ...(labelOfClaims(judgedClaims.map(({ verdict }) => verdict)) === 'fail' && { label: 'fail' as const }),
      alignmentScore: twoDecimals(alignment),
      coverageScore: twoDecimals(coverage),
      claims: judgedClaims,
      questions: answered.map(({ text, answer }) => ({
        question: text,
        isAnswerable: answer?.verdict === 'yes',
        reasoning: answer?.reasoning ?? '',
      })),
    },
  }
}

/** The findings in words. */
export function explainSummary(judgement: SummaryJudgement, score: number, scale: number): Explanation {
  const { alignmentScore, coverageScore, claims, questions } = judgement
  const wrong = claims.filter(({ verdict }) => !isSupported(verdict))
  const open = questions.filter(({ isAnswerable }) => !isAnswerable)
  const wrongClaims = wrong.map(({ claim, reasoning }) => {
    const statement = claim.replace(/\.$/, '')
    return reasoning === '' ? statement : `${statement} (${reasoning})`
  })
  const openQuestions = open.map(({ question }) => `"${question}"`)
  return explain`The score is ${score} of ${scale}, the lower of alignment (${alignmentScore}) and coverage (${coverageScore}). ${claims.length - wrong.length} of ${claims.length} claims are supported by the source${listOf(wrongClaims)}. ${questions.length - open.length} of ${questions.length} key questions are answered${listOf(openQuestions)}.`
}

/** The band of the reported `score ÷ scale`. */
export function summaryBand(score: number, scale: number): string {
  const share = shareOfScale(score, scale)
  if (share >= 1) return 'perfect'
  if (share >= 0.7) return 'good'
  if (share >= 0.4) return 'moderate'
  return share > 0 ? 'poor' : 'invalid'
}

/** The claims of a summary. */
export const summaryClaims: ItemList = { ...claimList('the summary', 'the source'), mustHaveItems: true }

function questionList(max: number): ItemList {
  return {
    name: 'questions',
    prefix: 'q',
    instruction: summaryPrompts.question,
    max,
    mustHaveItems: true,
  }
}

function listOf(texts: readonly string[]): Explanation {
  return contentOnly(texts.length === 0 ? '' : `; not: ${texts.slice(0, 5).join('; ')}`)
}
