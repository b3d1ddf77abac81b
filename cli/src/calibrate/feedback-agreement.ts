import { judgeName } from '../calibration/calibration.ts'
import { safeLine } from '../text.ts'
import type { RunWithScores } from './judged-runs.ts'

interface Counts {
  readonly judge: string
  readonly feedback: string
  agreed: number
  /** Runs that users fail and the judge passes. */
  onlyUsersFail: number
  /** Runs that the judge fails and users pass. */
  onlyJudgeFails: number
}

/** Counts how often judges and users say the same of a run. */
export class FeedbackAgreement {
  readonly #counts = new Map<string, Counts>()

  add({ judged, feedback }: RunWithScores): void {
    for (const score of judged) {
      for (const { name, label } of feedback) {
        const judge = judgeName(score)
        const key = `${judge}\n${name}`
        const counts = this.#counts.get(key) ?? {
          judge,
          feedback: name,
          agreed: 0,
          onlyUsersFail: 0,
          onlyJudgeFails: 0,
        }
        this.#counts.set(key, counts)
        if (label === score.label) counts.agreed++
        else if (label === 'fail') counts.onlyUsersFail++
        else counts.onlyJudgeFails++
      }
    }
  }

  /** A line for each judge and kind of feedback, and what they are worth. */
  describe(): readonly string[] {
    const lines = [...this.#counts.values()].map(({ judge, feedback, agreed, onlyUsersFail, onlyJudgeFails }) => {
      const all = agreed + onlyUsersFail + onlyJudgeFails
      const differences = `users fail ${onlyUsersFail} that it passes, and pass ${onlyJudgeFails} that it fails`
      return `${safeLine(judge)} and the feedback ${safeLine(feedback)} agree in ${agreed} of ${all} answers of users: ${differences}.`
    })
    return lines.length === 0
      ? []
      : [...lines, 'Runs with feedback are no random sample, so feedback counts for no calibration.']
  }
}
