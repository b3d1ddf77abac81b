import { contentFree, explain } from '../../../model/explanation.ts'
import type { Answers } from '../../../judge/inquiry.ts'
import { inquire } from '../../../judge/judging.ts'
import { historySection, mainSection } from '../../../judge/prompt/render-run.ts'
import type { SectionDraft } from '../../../judge/prompt/section.ts'
import type { AgentRun } from '../../../model/agent-run.ts'
import type { Finding } from '../../../model/finding.ts'
import { callEndingOf } from '../../../scoring/call-ending.ts'
import type { Scorer } from '../../../scoring/scorer.ts'
import { expectedAnswer, expectGroundTruth } from '../items/contextual-recall.ts'
import type { GroundTruthOption } from '../items/contextual-recall.ts'
import {
  defineJudgeScorer,
  explainFindings,
  judgeKeys,
  ratingOf,
  readJudgeOptions,
  shorten,
  skipUnjudgeable,
  textOr,
} from '../judge-scorer.ts'
import type { JudgeScorerOptions, JudgeVerdict } from '../judge-scorer.ts'
import { readOptions } from '../../read-options.ts'
import type { KeysOf } from '../../read-options.ts'
import { twoDecimals } from '../../two-decimals.ts'
import { pointPrompts, pointsOf } from './points.ts'
import type { AnswerPoint } from './points.ts'

/** Options of `createAnswerCorrectnessScorer`. */
export interface AnswerCorrectnessScorerOptions extends JudgeScorerOptions {
  /** What the answer is compared with. */
  readonly options?: GroundTruthOption
}

const KNOWN: KeysOf<AnswerCorrectnessScorerOptions> = { ...judgeKeys, options: true }

const COUNTS = { said: 1, partly: 0.5, missing: 0, contradicted: 0 } as const
const VERDICTS = ['said', 'partly', 'missing', 'contradicted'] as const

const prompts = {
  role: 'You tick off which points of an expected answer an answer says, in whatever words and language. The expected answer is right, whatever you know yourself. Style, length and order do not matter; of several answers that exclude each other, none is said.',
  point: `Does the answer say this point?
  "said": it says it, or it follows from what it says;
  "partly": it says a part of it, or it less exactly than the question needs;
  "missing": it does not say it, also because it declines to answer;
  "contradicted": it says otherwise, gives another answer in its place, or denies that there is one.`,
  false:
    'other claims of the answer that the expected answer rules out, each in a few words; what only contradicts a point is none, nor what is merely not in the expected answer',
} as const

const falseList = { name: 'false', prefix: 'f', instruction: prompts.false, max: 8, isOptional: true } as const

/**
 * Answer correctness, by a judge: the answer against an expected answer.
 *
 * The judge first makes the points of the expected answer, at most 8, with weights 1 and 2, and then ticks them off: said 1, partly 0.5, missing and
 * contradicted 0. Score: the weighted share, two decimals; passes at 0.7. A contradicted point of weight 2, and a false claim beside the points, fail
 * the label and do not change the score. The points of a [case](../cases.md) are its own; others are kept in the process, so that they are
 * paid for once. An empty answer is 0, without asking. Without an expected answer `skipped: not-applicable`. One judge call, and one for the points.
 *
 * @example
 * ```ts
 * const scorer = createAnswerCorrectnessScorer({ model: 'openai/gpt-5-mini' })
 * const { score } = await scorer.run({ input: 'Where is Oslo?', output: 'In Norway.', groundTruth: 'Oslo lies in Norway.' })
 * ```
 *
 * @throws TypeError if the model or an option is invalid or unknown
 */
export function createAnswerCorrectnessScorer(options: AnswerCorrectnessScorerOptions): Scorer {
  const factory = 'createAnswerCorrectnessScorer'
  const { id = 'answer_correctness', options: more = {} } = readJudgeOptions(factory, options, KNOWN)
  const { groundTruth } = readOptions(`${factory} options`, more, { groundTruth: true })
  expectGroundTruth(factory, groundTruth)
  return defineJudgeScorer<undefined>({
    id,
    description: 'The share of the expected answer that the answer says.',
    options,
    calls: 2,
    identity: { groundTruth, prompts: [pointPrompts, prompts, COUNTS] },
    needs: ['input', 'output', 'groundTruth'],
    drafts: (run) => toDrafts(run, run.userInput ?? '', run.output ?? '', []),
    assess: async (run, session, context) => {
      const expected = expectedAnswer(run, context, id, groundTruth)
      if (typeof expected !== 'string') return expected
      const question = textOr(run, 'userInput', id)
      if (typeof question !== 'string') return question
      const unfinished = skipUnjudgeable(run, context, id)
      if (unfinished === undefined && run.output?.trim() === '' && callEndingOf(run, context.handOver) === undefined) {
        return { status: 'scored', value: 0, explanation: contentFree('The answer is empty.') }
      }
      const answer = unfinished ?? textOr(run, 'output', id)
      if (typeof answer !== 'string') return answer
      const given = context.expected?.points
      const points =
        given === undefined ? await pointsOf(session, question, expected) : { ok: true as const, value: given }
      if (!points.ok) return points.score
      const asked = await inquire(session, {
        role: prompts.role,
        sections: [mainSection('the expected answer', expected), ...toDrafts(run, question, answer, points.value)],
        questions: [{ ids: points.value.map((_, index) => pointId(index)), text: prompts.point, verdicts: VERDICTS }],
        lists: [falseList],
      })
      if (!asked.ok) return asked.score
      return scoreOf(points.value, asked.value)
    },
  })
}

function toDrafts(run: AgentRun, question: string, answer: string, points: readonly AnswerPoint[]): SectionDraft[] {
  const lines = points.flatMap(({ text }, index) => [
    { text: `${pointId(index)}: ` },
    { text: text.replaceAll(/\s+/g, ' '), cut: 'judged' as const },
    { text: '\n' },
  ])
  return [
    { title: 'the points of the expected answer', fragments: lines },
    ...historySection(run, { history: 10 }),
    mainSection('the question', question),
    mainSection('the answer', answer),
  ]
}

function pointId(index: number): string {
  return `p${index + 1}`
}

function scoreOf(points: readonly AnswerPoint[], { answers, items }: Answers): JudgeVerdict<undefined> {
  let [said, total, isWrong] = [0, 0, false]
  const judged = points.map(({ text, weight }, index): Finding => {
    const { verdict: given, reasoning: reason = '' } = answers.get(pointId(index)) ?? {}
    const verdict = VERDICTS.find((known) => known === given)
    if (verdict === undefined) throw new Error(`expected a verdict on every point, got none for ${text}`)
    said += weight * COUNTS[verdict]
    total += weight
    if (verdict === 'contradicted' && weight === 2) isWrong = true
    return { about: 'point', verdict, rating: ratingOf(COUNTS[verdict]), text, reason, places: [{ in: 'answer' }] }
  })
  const claims = (items.get(falseList.name) ?? []).map(({ text }): Finding => {
    return { about: 'claim', verdict: 'false', rating: 'bad', text, places: [{ in: 'answer' }] }
  })
  const findings = [...judged, ...claims]
  const whole = judged.filter(({ verdict }) => verdict === 'said').length
  return {
    status: 'scored',
    value: twoDecimals(said / total),
    ...((isWrong || claims.length > 0) && { label: 'fail' }),
    explanation: shorten(explain`${whole} of ${points.length} points said.${explainFindings(findings)}`),
    findings,
  }
}
