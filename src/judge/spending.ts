import type { JudgeReport } from '../model/score.ts'
import type { Usage } from '../model/message.ts'

/** Usage and cost of one thing: a call, or all calls of a judge. */
export type Spending = Pick<JudgeReport, 'usage' | 'costUsd'>

/** What the calls of one score have taken so far. */
export class SpendingCount {
  readonly #spent: Spending[] = []
  #calls = 0
  #answeredBy: string | undefined

  get calls(): number {
    return this.#calls
  }

  /** Counts a call that is made, whether it succeeds or not, and gives its number from 1. */
  countCall(): number {
    this.#calls += 1
    return this.#calls
  }

  /** Adds what a reply took, and the model that gave it where the provider names it. */
  addReply(spending: Spending, modelId: string | undefined): void {
    this.#spent.push(spending)
    if (modelId === undefined) return
    this.#answeredBy = this.#answeredBy === undefined || this.#answeredBy === modelId ? modelId : 'mixed'
  }

  /** What all calls took; `undefined` before the first. The cost is unknown where that of one reply is. */
  report(model: string): JudgeReport | undefined {
    if (this.#calls === 0) return undefined
    return { model: this.#answeredBy ?? model, calls: this.#calls, ...sumSpending(this.#spent) }
  }
}

/** All of it together. What nobody counted stays absent; the cost is unknown where that of one part is, or there is no part. */
export function sumSpending(parts: readonly Spending[]): Spending {
  const costs = parts.flatMap(({ costUsd }) => costUsd ?? [])
  const isKnown = parts.length > 0 && costs.length === parts.length
  return {
    usage: sumUsage(parts.map(({ usage }) => usage)),
    ...(isKnown && { costUsd: costs.reduce((sum, cost) => sum + cost, 0) }),
  }
}

/** What several judges took together, under the name of the model that answered, or `mixed`; `undefined` where none was asked. */
export function sumReports(reports: readonly JudgeReport[]): JudgeReport | undefined {
  const [first] = reports
  if (first === undefined) return undefined
  const model = reports.every((report) => report.model === first.model) ? first.model : 'mixed'
  return { model, calls: reports.reduce((sum, { calls }) => sum + calls, 0), ...sumSpending(reports) }
}

const counts = ['inputTokens', 'outputTokens', 'cacheReadTokens', 'cacheWriteTokens', 'reasoningTokens'] as const

function sumUsage(usages: readonly Usage[]): Usage {
  return Object.fromEntries(
    counts.flatMap((key) => {
      const known = usages.flatMap((usage) => usage[key] ?? [])
      return known.length === 0 ? [] : [[key, known.reduce((sum, count) => sum + count, 0)]]
    }),
  )
}
