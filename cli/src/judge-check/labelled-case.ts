import { createPrebuilt } from '../../../src/scorers/all.ts'
import type { JudgeScorerOptions } from '../../../src/scorers/judge/judge-scorer.ts'
import type { Scorer, ScorerInput } from '../../../src/scoring/scorer.ts'
import cases from './cases.json' with { type: 'json' }

/** A run, or the runs of a conversation, whose label is known, because it was written to be plainly right or plainly wrong. */
export interface LabelledCase {
  readonly id: string
  /** The id of the prebuilt judge scorer that is asked. */
  readonly scorer: string
  /** The language of the user's request, as ISO 639-1. */
  readonly language: string
  readonly expect: 'pass' | 'fail'
  /** Why this is the right label. */
  readonly why: string
  /** Whether the run gives orders to the judge. */
  readonly hostile?: boolean
  /** Options of the scorer that the case needs. */
  readonly options?: Readonly<Record<string, unknown>>
  readonly run: ScorerInput | readonly ScorerInput[]
}

/** The cases that ship with the package: at least seven for each prebuilt judge scorer, in five languages. */
export const labelledCases: readonly LabelledCase[] = cases.map((each): LabelledCase => {
  if (each.expect !== 'pass' && each.expect !== 'fail') throw new TypeError(`Expected pass or fail, got ${each.expect}`)
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- TypeScript infers a union of all texts of the file
  return each as LabelledCase
})

/** Creates the scorer of a case, which asks the given judge. */
export function scorerOf({ scorer, options }: LabelledCase, judge: JudgeScorerOptions): Scorer {
  return createPrebuilt(scorer, { ...judge, ...options })
}
