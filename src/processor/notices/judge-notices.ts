import type { Evaluation, FailureCode } from '../../model/score.ts'
import type { Reporter } from '../../engine/reporter.ts'

/** Failures that are caused by a mistake in the set-up. */
const OF_SET_UP: ReadonlySet<FailureCode> = new Set(['judge-auth', 'judge-quota', 'judge-http'])

/** What failures mean that may pass. They are a mistake in the set-up only if a judge does nothing else. */
const REPEATED: Readonly<Partial<Record<FailureCode, string>>> = {
  'judge-timeout': 'it does not answer within timeoutMs. Raise timeoutMs, use a faster model, or check the network',
  'judge-invalid-reply': 'its replies cannot be read. Use a model with structured output',
  'judge-unanswered': 'it leaves questions open. Use another model',
  'judge-refused': 'it, or a content filter of its provider, refuses to answer. Use another model',
}

/** After this many failures without a score in between, a judge is reported. */
const FAILURES_IN_A_ROW = 5

/** Failures that are caused by a mistake in the application's code. */
const MISTAKES: ReadonlySet<FailureCode> = new Set(['scorer-threw', 'invalid-score', 'redact-failed'])

/** Reports why a judge cannot be asked. */
export function reportMissingJudge(id: string, model: string, why: string, reporter: Reporter): void {
  reporter.notify('SPANSCORE_JUDGE', `${id} cannot ask its judge ${model}. ${why}`, { subject: model })
}

/** Reports a failed score, or one that expects a misspelt tool, without content. Failures caused by the set-up or the application's code are shown without a logger too. */
export function reportFailure({ scorer, score, judge }: Evaluation, reporter: Reporter): void {
  if (score.status === 'skipped' && score.reason === 'no-such-tool') {
    const message = score.messageWithoutContent ?? `${scorer.id} expects a tool that was never offered.`
    reporter.notify('SPANSCORE_NO_SUCH_TOOL', message, { subject: scorer.id })
  }
  if (score.status !== 'failed') return
  const hidden = 'Its message may quote content; onScore has it.'
  const message = score.messageWithoutContent ?? `${scorer.id} gave no score: ${score.code}. ${hidden}`
  if (MISTAKES.has(score.code)) {
    reporter.notify('SPANSCORE_SCORER', message, { subject: `${scorer.id}:${score.code}` })
    return
  }
  if (!OF_SET_UP.has(score.code)) {
    reporter.warnOnce(`failed:${scorer.id}:${score.code}`, message)
    return
  }
  const model = judge?.model ?? 'the judge'
  reporter.notify(
    'SPANSCORE_JUDGE',
    `${scorer.id} gave no score (${score.code}). ${score.messageWithoutContent ?? hidden}`,
    {
      subject: `${model}:${score.code}`,
      kind: `${scorer.id}:${score.code}`,
    },
  )
}

/** Reports a judge that gives no score for a reason that may pass, once it has failed several times in a row. */
export class FailingJudgeNotice {
  readonly #reporter: Reporter
  /** Failures since the last score, by the id of the scorer. */
  readonly #failures = new Map<string, number>()

  constructor(reporter: Reporter) {
    this.#reporter = reporter
  }

  /** Must be called with each evaluation. */
  look({ scorer, score, judge }: Evaluation): void {
    if (score.status === 'scored') this.#failures.delete(scorer.id)
    if (score.status !== 'failed') return
    const meaning = REPEATED[score.code]
    if (meaning === undefined) return
    const failures = (this.#failures.get(scorer.id) ?? 0) + 1
    this.#failures.set(scorer.id, failures)
    if (failures !== FAILURES_IN_A_ROW) return
    const model = judge?.model ?? 'the judge'
    this.#reporter.notify(
      'SPANSCORE_JUDGE',
      `${scorer.id} gave no score ${failures} times in a row (${score.code}): ${model}: ${meaning}.`,
      { subject: `${model}:${score.code}`, kind: `${scorer.id}:${score.code}` },
    )
  }
}
