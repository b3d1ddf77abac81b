import type { Evaluation } from 'spanscore/engine'

type Scorer = Evaluation['scorer']
type Scored = Extract<Evaluation['score'], { readonly status: 'scored' }>
type Judge = NonNullable<Evaluation['judge']>

/** A scorer's result as the page shows it. A file holds less of it than the service does. */
export type ShownEvaluation = Omit<Evaluation, 'scorer' | 'score' | 'judge' | 'durationMs'> & {
  readonly scorer: Pick<Scorer, 'id'> & Partial<Scorer>
  /** Scores of other tools have other labels, or none. */
  readonly score: Exclude<Evaluation['score'], Scored> | (Omit<Scored, 'label'> & Partial<Pick<Scored, 'label'>>)
  readonly judge?: Pick<Judge, 'model'> & Partial<Judge>
  readonly durationMs?: number
}
