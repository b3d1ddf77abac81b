import type { Answers } from '../../../judge/inquiry.ts'
import type { AlignmentBand } from './phrases.ts'
import type { AlignmentSide } from './questions.ts'
import { shareOfScale } from '../../two-decimals.ts'

/** The judge's findings for one side; scores are 0 to 1. */
export interface AlignmentAnalysis {
  /** Whether the answer addresses the intent. */
  readonly intentAlignment: {
    readonly score: number
    readonly primaryIntent: string
    readonly isAddressed: boolean
    readonly reasoning: string
  }
  /** Each requirement, and whether the answer meets it. */
  readonly requirementsFulfillment: {
    readonly requirements: readonly {
      readonly requirement: string
      readonly isFulfilled: boolean
      /** Whether it is met in part. */
      readonly isPartlyFulfilled: boolean
      readonly reasoning: string
    }[]
    readonly overallScore: number
  }
  /** What the answer lacks. */
  readonly completeness: {
    readonly score: number
    readonly missingElements: readonly string[]
    readonly reasoning: string
  }
  /** Whether format and tone are as requested. */
  readonly responseAppropriateness: {
    readonly score: number
    readonly formatAlignment: boolean
    readonly toneAlignment: boolean
    readonly reasoning: string
  }
  /** The judge's conclusion. */
  readonly overallAssessment: string
}

/** The weights of intent, requirements, completeness and appropriateness. */
export const weights = {
  user: [0.4, 0.3, 0.2, 0.1],
  system: [0.35, 0.35, 0.15, 0.15],
} as const

/** The weight of each side if both are judged. */
export const shares = { user: 0.7, system: 0.3 } as const

/** What a requirement counts. */
const FULFILLED: Readonly<Record<string, number>> = { yes: 1, partly: 0.5, no: 0 }

/** The analysis of one side, from the judge's answers. */
export function analyse(side: AlignmentSide, { answers, items, notes }: Answers): AlignmentAnalysis {
  const level = (dimension: string) => {
    const answer = answers.get(`${side}.${dimension}`)
    return { score: Number(answer?.verdict ?? 0), reasoning: answer?.reasoning ?? '' }
  }
  const intent = level('intent')
  const completeness = level('completeness')
  const appropriateness = level('appropriateness')
  const listed = items.get(`${side}Requirements`) ?? []
  const requirements = listed.map(({ text, answer }) => ({
    requirement: text,
    isFulfilled: answer?.verdict === 'yes',
    isPartlyFulfilled: answer?.verdict === 'partly',
    reasoning: answer?.reasoning ?? '',
  }))
  const fulfilled = listed.reduce((sum, { answer }) => sum + (FULFILLED[answer?.verdict ?? ''] ?? 0), 0)
  return {
    intentAlignment: {
      ...intent,
      primaryIntent: notes.get(`${side}Intent`)?.[0] ?? '',
      isAddressed: intent.score >= 0.5,
    },
    requirementsFulfillment: {
      requirements,
      overallScore: requirements.length === 0 ? 1 : fulfilled / requirements.length,
    },
    completeness: { ...completeness, missingElements: notes.get(`${side}Missing`) ?? [] },
    responseAppropriateness: {
      ...appropriateness,
      formatAlignment: saidYes(notes.get(`${side}Form`)) ?? appropriateness.score >= 0.5,
      toneAlignment: saidYes(notes.get(`${side}Tone`)) ?? appropriateness.score >= 0.5,
    },
    overallAssessment: notes.get(`${side}Assessment`)?.[0] ?? '',
  }
}

/** The analysis of an empty response. */
export function emptyAnalysis(reasoning: string): AlignmentAnalysis {
  return {
    intentAlignment: { score: 0, primaryIntent: '', isAddressed: false, reasoning },
    requirementsFulfillment: { requirements: [], overallScore: 0 },
    completeness: { score: 0, missingElements: [], reasoning },
    responseAppropriateness: { score: 0, formatAlignment: false, toneAlignment: false, reasoning },
    overallAssessment: reasoning,
  }
}

/** Combines the four dimensions of one side to a number from 0 to 1. */
export function weigh(side: AlignmentSide, analysis: AlignmentAnalysis): number {
  const [intent, requirements, completeness, appropriateness] = weights[side]
  return (
    intent * analysis.intentAlignment.score +
    requirements * analysis.requirementsFulfillment.overallScore +
    completeness * analysis.completeness.score +
    appropriateness * analysis.responseAppropriateness.score
  )
}

/** The band of score ÷ scale. It uses the reported score, so that score and band agree. */
export function bandOf(score: number, scale: number): AlignmentBand {
  const share = shareOfScale(score, scale)
  if (share >= 0.9) return 'excellent'
  if (share >= 0.8) return 'very good'
  if (share >= 0.7) return 'good'
  if (share >= 0.6) return 'moderate'
  return share >= 0.4 ? 'poor' : 'very poor'
}

/** What the response lacks: unfulfilled requirements, and elements that the judge missed. */
export function missingRequirements({ requirementsFulfillment, completeness }: AlignmentAnalysis): string[] {
  return [
    ...requirementsFulfillment.requirements.filter(({ isFulfilled }) => !isFulfilled).map((unmet) => unmet.requirement),
    ...completeness.missingElements,
  ]
}

/** Whether a note says yes or no. */
function saidYes(note: readonly string[] | undefined): boolean | undefined {
  const word = /^\W*(yes|no)\b/i.exec(note?.[0] ?? '')?.[1]?.toLowerCase()
  return word === undefined ? undefined : word === 'yes'
}
