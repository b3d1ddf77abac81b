import type { JudgeReport } from '../model/score.ts'
import type { Usage } from '../model/message.ts'

/** Usage and cost of one call, or of all calls of a judge. */
export type Spending = Pick<JudgeReport, 'usage' | 'costUsd'>

/** Counts the calls, tokens and cost of one score. */
export class SpendingCount {
  readonly #spent: Spending[] = []
  #calls = 0
  #answeredBy: string | undefined
  #isEffortIgnored = false

  get calls(): number {
    return this.#calls
  }

  /** Counts a call, successful or not, and returns its number from 1. */
  countCall(): number {
    this.#calls += 1
    return this.#calls
  }

  /** Adds the usage of a reply, and its model if the provider names it. */
  addReply(spending: Spending, modelId: string | undefined, isEffortIgnored = false): void {
    this.#spent.push(spending)
    this.#isEffortIgnored ||= isEffortIgnored
    if (modelId === undefined) return
    this.#answeredBy = this.#answeredBy === undefined || this.#answeredBy === modelId ? modelId : 'mixed'
  }

  /** Usage and cost of all calls; `undefined` before the first. The cost is unknown if that of any reply is. */
  report(model: string): JudgeReport | undefined {
    if (this.#calls === 0) return undefined
    return {
      model: this.#answeredBy ?? model,
      calls: this.#calls,
      ...sumSpending(this.#spent),
      ...(this.#isEffortIgnored && { isEffortIgnored: true }),
    }
  }
}

/** Sums usage and cost. A count that no part has stays absent. The cost is unknown if that of any part is, or if there is no part. */
export function sumSpending(parts: readonly Spending[]): Spending {
  const costs = parts.flatMap(({ costUsd }) => costUsd ?? [])
  const isKnown = parts.length > 0 && costs.length === parts.length
  return {
    usage: sumUsage(parts.map(({ usage }) => usage)),
    ...(isKnown && { costUsd: costs.reduce((sum, cost) => sum + cost, 0) }),
  }
}

/** Sums the reports of several judges under the model's name, or `mixed`; `undefined` if no judge was called. */
export function sumReports(reports: readonly JudgeReport[]): JudgeReport | undefined {
  const [first] = reports
  if (first === undefined) return undefined
  const model = reports.every((report) => report.model === first.model) ? first.model : 'mixed'
  return {
    model,
    calls: reports.reduce((sum, { calls }) => sum + calls, 0),
    ...sumSpending(reports),
    ...(reports.some(({ isEffortIgnored }) => isEffortIgnored) && { isEffortIgnored: true }),
  }
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
