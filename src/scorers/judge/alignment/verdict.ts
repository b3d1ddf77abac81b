import type { Finding } from '../../../model/finding.ts'
import { contentFree, contentOnly, joinExplanations } from '../../../model/explanation.ts'
import type { Explanation } from '../../../model/explanation.ts'
import type { Answers } from '../../../judge/inquiry.ts'
import type { AgentRun } from '../../../model/agent-run.ts'
import { shorten } from '../judge-scorer.ts'
import type { JudgeVerdict } from '../judge-scorer.ts'
import { analyse, bandOf, emptyAnalysis, missingRequirements, shares, weigh } from './analysis.ts'
import type { AlignmentAnalysis } from './analysis.ts'
import { phrasesFor } from './phrases.ts'
import type { AlignmentBand, AlignmentPhrases } from './phrases.ts'
import type { AlignmentSide } from './questions.ts'
import { twoDecimals } from '../../two-decimals.ts'

/** Flat if one side is judged, by side if both are. */
export type PromptAlignmentAnalysis =
  | AlignmentAnalysis
  | { readonly user: AlignmentAnalysis; readonly system: AlignmentAnalysis }

/** What to judge by. Without system instructions, `both` is judged as `user`. */
export type AlignmentMode = AlignmentSide | 'both'

/** Computes the score from the judge's answers. */
export function scoreAlignment(
  run: AgentRun,
  sides: readonly AlignmentSide[],
  answers: Answers,
  scale: number,
  mode: AlignmentMode,
): JudgeVerdict<PromptAlignmentAnalysis> {
  const analyses = sides.map((side) => ({ side, analysis: analyse(side, answers) }))
  const weighted = analyses.map(({ side, analysis }) => ({ side, value: weigh(side, analysis) }))
  const [only] = weighted
  const total =
    weighted.length === 1 && only !== undefined
      ? only.value
      : weighted.reduce((sum, { side, value }) => sum + shares[side] * value, 0)
  const value = twoDecimals(total * scale)
  const isAddressed = analyses.every(({ analysis }) => analysis.intentAlignment.isAddressed)
  const band = bandOf(value, scale)
  const missing = [...new Set(analyses.flatMap(({ analysis }) => missingRequirements(analysis)))]
  const sentences = (phrases: AlignmentPhrases) => [
    ...analyses.map(({ analysis }) => contentOnly(analysis.overallAssessment)),
    ...(missing.length > 0 ? [contentOnly(`${phrases.missing}: ${missing.join('; ')}`)] : []),
  ]
  return {
    status: 'scored',
    value,
    // Whatever else is fine, a response that misses what was asked does not pass.
    ...(!isAddressed && { label: 'fail' as const }),
    band,
    explanation: explainAlignment(run, sides, mode, { value, scale, band }, sentences),
    findings: analyses.flatMap(({ analysis }) => findingsOf(analysis)),
    analyzeStepResult: toResult(analyses),
  }
}

function findingsOf({ requirementsFulfillment, completeness }: AlignmentAnalysis): readonly Finding[] {
  return [
    ...requirementsFulfillment.requirements.map(
      ({ requirement, isFulfilled, isPartlyFulfilled, reasoning }): Finding => ({
        about: 'requirement',
        ...(isFulfilled
          ? { verdict: 'fulfilled', rating: 'good' }
          : isPartlyFulfilled
            ? { verdict: 'partly_fulfilled', rating: 'open' }
            : { verdict: 'not_fulfilled', rating: 'bad' }),
        text: requirement,
        reason: reasoning,
        places: [{ in: 'answer' }],
      }),
    ),
    ...completeness.missingElements.map((text): Finding => ({
      about: 'element',
      verdict: 'missing',
      rating: 'bad',
      text,
      places: [{ in: 'answer' }],
    })),
  ]
}

/** The score of an empty response. */
export function scoreEmpty(
  run: AgentRun,
  sides: readonly AlignmentSide[],
  scale: number,
  mode: AlignmentMode,
): JudgeVerdict<PromptAlignmentAnalysis> {
  const { emptyResponse } = phrasesOf(run)
  const analyses = sides.map((side) => ({ side, analysis: emptyAnalysis(emptyResponse) }))
  return {
    status: 'scored',
    value: 0,
    band: 'very poor',
    explanation: explainAlignment(run, sides, mode, { value: 0, scale, band: 'very poor' }, () => [
      contentFree(emptyResponse),
    ]),
    analyzeStepResult: toResult(analyses),
  }
}

function toResult(
  analyses: readonly { readonly side: AlignmentSide; readonly analysis: AlignmentAnalysis }[],
): PromptAlignmentAnalysis {
  const of = (side: AlignmentSide) => analyses.find((entry) => entry.side === side)?.analysis
  const [user, system] = [of('user'), of('system')]
  if (user !== undefined && system !== undefined) return { user, system }
  return user ?? system ?? emptyAnalysis('')
}

/** Explains score, maximum and findings, in the language of the prompt. */
function explainAlignment(
  run: AgentRun,
  sides: readonly AlignmentSide[],
  mode: AlignmentSide | 'both',
  { value, scale, band }: { readonly value: number; readonly scale: number; readonly band: AlignmentBand },
  findings: (phrases: AlignmentPhrases) => readonly Explanation[],
): Explanation {
  const phrases = phrasesOf(run)
  const sentences = [
    contentFree(`${phrases.score(value, scale)} - ${phrases.bands[band]}`),
    ...findings(phrases),
    ...(mode === 'both' && sides.length === 1 ? [contentFree(phrases.noSystem)] : []),
  ]
  const ended = sentences.map(({ text, withoutContent }) => ({
    text: withStop(text, phrases),
    withoutContent: withStop(withoutContent, phrases),
  }))
  return shorten(joinExplanations(ended, ''))
}

/** The phrases in the language of the question. */
function phrasesOf(run: AgentRun): AlignmentPhrases {
  return phrasesFor(run.userInput ?? run.systemInstructions ?? '')
}

/** Ends a sentence, unless the judge already did. */
function withStop(sentence: string, { stop }: AlignmentPhrases): string {
  const text = sentence.trim()
  if (text === '') return ''
  return /[.!?。！？]$/.test(text) ? `${text} ` : `${text}${stop}`
}
