import type { Finding } from '../../../model/finding.ts'
import { contentFree, explain } from '../../../model/explanation.ts'
import type { Explanation } from '../../../model/explanation.ts'
import { mainSection } from '../../../judge/prompt/render-run.ts'
import type { AgentRun } from '../../../model/agent-run.ts'
import type { Scorer } from '../../../scoring/scorer.ts'
import { formatValue } from '../../../scoring/format-value.ts'
import { defineJudgeScorer, judgeKeys, readJudgeOptions, shorten, skipUnjudgeable, textOr } from '../judge-scorer.ts'
import type { JudgeScorerOptions } from '../judge-scorer.ts'
import { expectReturned } from '../../expect-returned.ts'
import { expectOption, isTextOrNone, readOptions } from '../../read-options.ts'
import type { KeysOf } from '../../read-options.ts'
import { explainSummary, judgeSummary, summaryBand, summaryClaims, summaryPrompts } from './judgement.ts'
import type { SummarizationAnalysis } from './judgement.ts'
import { isSupported } from '../items/claims.ts'
import { skip } from '../../skip.ts'
import { twoDecimals } from '../../two-decimals.ts'

/** Options of summarization. */
export interface SummarizationOptions {
  /** The highest score: a positive number. @default 1 */
  readonly scale?: number
  /** The text that was summarized. @default the user's text */
  readonly source?: string
  /** Finds the summarized text in a run; takes precedence over `source`. */
  readonly sourceExtractor?: (run: AgentRun) => string | undefined
  /** Questions about the source, 1 to 50. @default 10 */
  readonly maxQuestions?: number
}

/** Options of `createSummarizationScorer`. */
export interface SummarizationScorerOptions extends JudgeScorerOptions {
  /** How the summary is judged. */
  readonly options?: SummarizationOptions
}

const KNOWN: KeysOf<SummarizationScorerOptions> = { ...judgeKeys, options: true }
const NESTED: KeysOf<SummarizationOptions> = { scale: true, source: true, sourceExtractor: true, maxQuestions: true }

/**
 * Summarization, by a judge: whether a summary is true to its source and covers what matters.
 *
 * Alignment: supported claims of the summary ÷ claims. Coverage: questions about the source that the summary alone answers ÷ questions.
 * Score: `min(alignment, coverage) × scale`, two decimals. An empty summary scores 0 without asking; an empty source is `skipped:
 * no-content`. Two judge calls, the second without the source.
 *
 * @example
 * ```ts
 * const scorer = createSummarizationScorer({
 *   model: 'openai/gpt-5-mini',
 *   options: { sourceExtractor: (run) => run.toolCalls.find(({ name }) => name === 'read-file')?.result as string },
 * })
 * ```
 *
 * @throws TypeError if the model or an option is invalid or unknown
 */
export function createSummarizationScorer(options: SummarizationScorerOptions): Scorer<unknown, SummarizationAnalysis> {
  const factory = 'createSummarizationScorer'
  const { id = 'summarization', options: given = {} } = readJudgeOptions(factory, options, KNOWN)
  const more = readOptions(`${factory} options`, given, NESTED)
  const { scale = 1, source, sourceExtractor, maxQuestions = 10 } = more
  checkScale(`Scorer ${id}: expected options.scale`, scale)
  if (!Number.isInteger(maxQuestions) || maxQuestions < 1 || maxQuestions > 50) {
    throw new TypeError(
      `Scorer ${id}: expected options.maxQuestions to be a whole number from 1 to 50, got ${formatValue(maxQuestions)}.`,
    )
  }
  expectOption(isTextOrNone(source), factory, 'options.source to be a string', source)
  const isExtractor = sourceExtractor === undefined || typeof sourceExtractor === 'function'
  expectOption(isExtractor, factory, 'options.sourceExtractor to be a function of the run', sourceExtractor)
  const sourceOf = (run: AgentRun): string | undefined =>
    expectReturned(sourceExtractor?.(run), id, 'options.sourceExtractor to return a string', isTextOrNone) ??
    source ??
    run.userInput
  return defineJudgeScorer<SummarizationAnalysis>({
    id,
    description: 'Whether a summary is true to its source and covers what matters.',
    options,
    range: [0, scale],
    calls: 2,
    identity: { scale, source, sourceExtractor, maxQuestions, prompts: [summaryPrompts, summaryClaims] },
    needs: ['input', 'output'],
    drafts: (run) => [mainSection('', sourceOf(run) ?? ''), mainSection('', run.output ?? '')],
    assess: async (run, session, context) => {
      const unfinished = skipUnjudgeable(run, context, id)
      if (unfinished !== undefined) return unfinished
      const text = sourceOf(run)
      if (text === undefined || text.trim() === '') {
        const missing = textOr(run, 'userInput', id)
        return typeof missing === 'string'
          ? skip('no-content', contentFree(`${id}: the source is empty. Set options.source or sourceExtractor.`))
          : skip(missing.reason, contentFree(`${missing.message} A summary needs its source.`))
      }
      const summary = textOr(run, 'output', id)
      if (typeof summary !== 'string') {
        const isEmpty = run.output !== undefined && summary.reason === 'no-output'
        return isEmpty ? emptySummary(scale) : summary
      }
      const judged = await judgeSummary(session, text, summary, maxQuestions)
      if (!judged.ok) return judged.score
      const { score, label, ...analysis } = judged.value
      const value = twoDecimals(score * scale)
      return {
        status: 'scored',
        value,
        ...(label !== undefined && { label }),
        band: summaryBand(value, scale),
        explanation: shorten(explainSummary(judged.value, value, scale)),
        findings: [
          ...analysis.claims.map(({ claim, verdict, reasoning }): Finding => ({
            about: 'claim',
            verdict,
            rating: isSupported(verdict) ? 'good' : 'bad',
            text: claim,
            reason: reasoning,
            places: [{ in: 'answer' }],
          })),
          ...analysis.questions.map(({ question, isAnswerable, reasoning }): Finding => ({
            about: 'question',
            verdict: isAnswerable ? 'answered' : 'not_answered',
            rating: isAnswerable ? 'good' : 'bad',
            text: question,
            reason: reasoning,
          })),
        ],
        analyzeStepResult: analysis,
      }
    },
  })
}

/** @throws TypeError if the scale is not a positive, finite number */
export function checkScale(subject: string, scale: unknown): void {
  if (typeof scale === 'number' && Number.isFinite(scale) && scale > 0) return
  throw new TypeError(`${subject} to be a positive number, got ${formatValue(scale)}.`)
}

/** The score of an empty summary. */
export function emptySummary(scale: number): {
  status: 'scored'
  value: number
  band: string
  explanation: Explanation
  analyzeStepResult: SummarizationAnalysis
} {
  return {
    status: 'scored',
    value: 0,
    band: 'invalid',
    explanation: explain`The score is 0 of ${scale}: the summary is empty, so that it makes no claim and answers no question.`,
    analyzeStepResult: { alignmentScore: 0, coverageScore: 0, claims: [], questions: [] },
  }
}
