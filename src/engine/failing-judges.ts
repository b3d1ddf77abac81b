import type { Evaluation, FailureCode } from '../model/score.ts'

/** What failures mean that may pass. They are a mistake in the set-up only if a judge does nothing else. */
const REPEATED: Readonly<Partial<Record<FailureCode, string>>> = {
  'judge-timeout': 'it does not answer within timeoutMs. Raise timeoutMs, use a faster model, or check the network',
  'judge-invalid-reply': 'its replies cannot be read. Use a model with structured output',
  'judge-unanswered': 'it leaves questions open. Use another model',
  'judge-refused': 'it, or a content filter of its provider, refuses to answer. Use another model',
}

/** After this many failures without a score in between, a judge is reported. */
const FAILURES_IN_A_ROW = 5

/** A judge that gave no score several times in a row. */
export interface FailingJudge {
  /** The id of the scorer. */
  readonly id: string
  readonly model: string
  /** The code of the failure that made it a failing one. */
  readonly code: FailureCode
  /** What it does, and what to do about it. */
  readonly why: string
}

/** Finds judges that give no score for a reason that may pass, by the failures of each since its last score. */
export class FailingJudges {
  readonly #failures = new Map<string, number>()
  readonly #now = new Map<string, FailingJudge>()

  /** The judges that have not given a score since they failed several times in a row. */
  get now(): readonly FailingJudge[] {
    return [...this.#now.values()]
  }

  /**
   * Must be called with each evaluation.
   *
   * @returns the judge, if this failure makes it a failing one
   */
  look({ scorer: { id }, score, judge }: Evaluation): FailingJudge | undefined {
    if (score.status === 'scored') {
      this.#failures.delete(id)
      this.#now.delete(id)
    }
    if (score.status !== 'failed') return undefined
    const meaning = REPEATED[score.code]
    if (meaning === undefined) return undefined
    const failures = (this.#failures.get(id) ?? 0) + 1
    this.#failures.set(id, failures)
    if (failures !== FAILURES_IN_A_ROW) return undefined
    const model = judge?.model ?? 'the judge'
    const why = `gave no score ${failures} times in a row (${score.code}): ${model}: ${meaning}.`
    const failing = { id, model, code: score.code, why }
    this.#now.set(id, failing)
    return failing
  }
}
