import type { Evaluation } from 'spanscore/engine'

type Scorer = Evaluation['scorer']
type Scored = Extract<Evaluation['score'], { readonly status: 'scored' }>
type Judge = NonNullable<Evaluation['judge']>

type CallScore = NonNullable<Evaluation['calls']>[number]
/** Scores of other tools have other labels, or none, and those on spans may have a label alone. */
type ShownScore =
  | Exclude<Evaluation['score'], Scored>
  | (Omit<Scored, 'label' | 'value'> & Partial<Pick<Scored, 'label' | 'value'>>)

/** A scorer's result as the page shows it. A file holds less of it than the service does. */
export type ShownEvaluation = Omit<Evaluation, 'scorer' | 'score' | 'calls' | 'judge' | 'durationMs'> & {
  readonly scorer: Pick<Scorer, 'id'> & Partial<Scorer>
  readonly score: ShownScore
  /** The scores of the run's calls, by a scorer of calls. */
  readonly calls?: readonly (Omit<CallScore, 'score'> & { readonly score: ShownScore })[]
  readonly judge?: Pick<Judge, 'model'> & Partial<Judge>
  readonly durationMs?: number
  /** How many runs the run counts for, if its probability is not known. */
  readonly weight?: number
  /** Present if the application made the score, and wrote it on the span. */
  readonly source?: 'span'
}
