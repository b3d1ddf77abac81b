import { z } from 'zod/v4'

/** Two probabilities, each above 0 and at most 1. */
export type ProbabilityByVerdict = Readonly<Record<'pass' | 'fail', number>>

/**
 * The judgement of a person on one score: whether the run passes, by the question that the scorer asks. A file of labels is JSON Lines,
 * one label a line; `spanscore calibrate draw` writes lines to fill in, and `spanscore calibrate` reads them back.
 *
 * Run, scorer and version together name the score that was labelled.
 */
export interface Label {
  /** `${traceId}:${spanId}` of the agent span. */
  readonly runId: string
  /** Id of the scorer: `gen_ai.evaluation.name` of the event. */
  readonly scorer: string
  /** Version of the scorer, 8 characters: `gen_ai.evaluation.evaluator.version` of the event. */
  readonly version: string
  /** The model that answered: `spanscore.judge.model`. Absent for scorers that ask no model. */
  readonly judgeModel?: string | undefined
  /** Revision of the run that the person read: `spanscore.revision`. */
  readonly revision: number
  /** Whether the run passes, by the question that the scorer asks. */
  readonly label: 'pass' | 'fail'
  /** Why, in the person's own words. It may quote the run. */
  readonly note?: string | undefined
  /** A name or id of the person, the same for all of their labels. */
  readonly labeller: string
  /** When the person labelled the run: ISO 8601, with a time zone. */
  readonly labelledAt: string
  /**
   * The probability with which this score was drawn from the stored scores of its scorer, above 0, at most 1. Labelling files hold one for
   * either verdict of the judge, because failures are drawn more often than passes: a single number would reveal the verdict to the person who labels.
   */
  readonly drawProbability: number | ProbabilityByVerdict
}

/** A line of a labelling file, which may not be filled in yet. Other fields of the line are not read. */
export type LabelLine = Omit<Label, 'label' | 'labeller' | 'labelledAt'> & {
  /** `null` until somebody has labelled the run. */
  readonly label: Label['label'] | null
  readonly labeller?: string | null | undefined
  readonly labelledAt?: string | null | undefined
}

const probability = z.number().gt(0).max(1)

const score = {
  runId: z.string().regex(/^[0-9a-f]{32}:[0-9a-f]{16}$/, 'expected <trace id>:<span id> in lower-case hex digits'),
  scorer: z.string().min(1),
  version: z.string().min(1),
  judgeModel: z.string().min(1).optional(),
  revision: z.int().min(1),
  note: z.string().optional(),
}

const drawProbability = z.union([probability, z.object({ pass: probability, fail: probability })])
const verdict = z.enum(['pass', 'fail'])
const labeller = z.string().min(1)
const time = z.iso.datetime({ offset: true })

/** The schema of a label. */
export const labelSchema: z.ZodType<Label> = z.object({
  ...score,
  label: verdict,
  labeller,
  labelledAt: time,
  drawProbability,
})

/** The schema of a line in a labelling file, whether it is filled in or not. */
export const labelLineSchema: z.ZodType<LabelLine> = z.object({
  ...score,
  label: verdict.nullable(),
  // An empty name counts as one that was not filled in.
  labeller: z.string().nullish(),
  labelledAt: time.nullish(),
  drawProbability,
})
