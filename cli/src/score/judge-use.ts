import { plural } from '../../../server/page/src/format.ts'
import type { Evaluation } from '../../../src/model/score.ts'

/** The calls, tokens and cost of all judges together. */
export class JudgeUse {
  #calls = 0
  #inputTokens = 0
  #outputTokens = 0
  #costUsd = 0
  #priced = 0
  #unpriced = 0
  readonly #ignoringEffort = new Set<string>()

  add({ judge }: Evaluation): void {
    if (judge === undefined) return
    this.#calls += judge.calls
    this.#inputTokens += judge.usage.inputTokens ?? 0
    this.#outputTokens += judge.usage.outputTokens ?? 0
    this.#costUsd += judge.costUsd ?? 0
    if (judge.isEffortIgnored === true) this.#ignoringEffort.add(judge.model)
    if (judge.costUsd === undefined) this.#unpriced++
    else this.#priced++
  }

  /** Describes the use in one line; empty if no judge was called. */
  describe(): string {
    if (this.#calls === 0) return ''
    const tokens = `${this.#inputTokens.toLocaleString('en')} + ${this.#outputTokens.toLocaleString('en')} tokens`
    const ignoring =
      this.#ignoringEffort.size === 0 ? '' : ` judge.effort is not used by ${[...this.#ignoringEffort].join(', ')}.`
    // Judges that did not answer cost nothing.
    if (this.#inputTokens + this.#outputTokens === 0)
      return `Judges: ${plural(this.#calls, 'call')}; they reported no tokens.${ignoring}`
    return `Judges: ${plural(this.#calls, 'call')}, ${tokens}, ${this.#describeCost()}.${ignoring}`
  }

  #describeCost(): string {
    if (this.#priced === 0) return 'at an unknown price; set judge.price to see the cost'
    const unpriced =
      this.#unpriced === 0 ? '' : `, without ${plural(this.#unpriced, 'score')} of models whose price is unknown`
    return `${this.#costUsd.toFixed(4)} USD${unpriced}`
  }
}
