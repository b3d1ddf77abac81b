import type { Evaluation, FailureCode } from '../../model/score.ts'
import type { FailingJudge } from '../../engine/failing-judges.ts'
import type { Reporter } from '../../engine/reporter.ts'

/** Failures that are caused by a mistake in the set-up. */
const OF_SET_UP: ReadonlySet<FailureCode> = new Set(['judge-auth', 'judge-quota', 'judge-http'])

/** Failures that are caused by a mistake in the application's code. */
const MISTAKES: ReadonlySet<FailureCode> = new Set(['scorer-threw', 'invalid-score', 'redact-failed'])

/** Reports why a judge cannot be asked. */
export function reportMissingJudge(id: string, model: string, why: string, reporter: Reporter): void {
  reporter.notify('SPANSCORE_JUDGE', `${id} cannot ask its judge ${model}. ${why}`, { subject: model })
}

/** Reports a failed score, without content. Failures caused by the set-up or the application's code are shown without a logger too. */
export function reportFailure({ scorer, score, judge }: Evaluation, reporter: Reporter): void {
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
export function reportFailingJudge({ id, model, code, why }: FailingJudge, reporter: Reporter): void {
  reporter.notify('SPANSCORE_JUDGE', `${id} ${why}`, { subject: `${model}:${code}`, kind: `${id}:${code}` })
}
