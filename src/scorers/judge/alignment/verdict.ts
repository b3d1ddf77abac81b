import { contentFree, contentOnly } from '../../../model/explanation.ts'
import type { Answers } from '../../../judge/inquiry.ts'
import type { AgentRun } from '../../../model/agent-run.ts'
import type { JudgeVerdict } from '../judge-scorer.ts'
import { analyse, bandOf, emptyAnalysis, missingRequirements, shares, weigh } from './analysis.ts'
import type { AlignmentAnalysis } from './analysis.ts'
import type { AlignmentPhrases } from './phrases.ts'
import type { AlignmentSide } from './questions.ts'
import { explainAlignment, phrasesOf } from './reason.ts'
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
  const band = bandOf(value, scale)
  const missing = [...new Set(analyses.flatMap(({ analysis }) => missingRequirements(analysis)))]
  const findings = (phrases: AlignmentPhrases) => [
    ...analyses.map(({ analysis }) => contentOnly(analysis.overallAssessment)),
    ...(missing.length > 0 ? [contentOnly(`${phrases.missing}: ${missing.join('; ')}`)] : []),
  ]
  return {
    status: 'scored',
    value,
    band,
    explanation: explainAlignment(run, sides, mode, { value, scale, band }, findings),
    analyzeStepResult: toResult(analyses),
  }
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
