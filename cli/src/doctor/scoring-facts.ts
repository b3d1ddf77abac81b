import { DEFAULT_BUDGET } from '../../../src/sampling/budget.ts'
import type { LedgerSnapshot } from '../../../src/scoring/ledger.ts'
import type { ResolvedOptions } from '../../../src/engine/config/options.ts'
import type { Sample } from '../../../src/engine/config/scoring-options.ts'
import { toScorerFacts } from '../../../src/processor/checks/setup-facts.ts'
import type { ScoringFacts } from './facts.ts'

/** Describes the configuration of a scoring processor. The result holds neither functions nor keys. */
export function toScoringFacts(options: ResolvedOptions, ledger: LedgerSnapshot): ScoringFacts {
  const rows = Object.values(ledger.scorers)
  const withReasons = Object.entries(ledger.scorers).filter(([, { reasons }]) => Object.keys(reasons).length > 0)
  return {
    scorers: options.scorers.map((scorer) => ({ ...toScorerFacts(scorer), sample: describeSample(scorer.sample) })),
    hasNext: options.next !== undefined,
    sample: [...new Set(options.scorers.map(({ sample }) => describeSample(sample)))].join(', '),
    budget: describeBudget(options),
    runsSeen: ledger.runs.seen,
    scored: rows.reduce((sum, { scored }) => sum + scored, 0),
    failed: rows.reduce((sum, { failed }) => sum + failed, 0),
    notScored: Object.fromEntries(withReasons.map(([id, { reasons }]) => [id, reasons])),
  }
}

function describeSample(sample: Sample): string {
  return typeof sample === 'number' ? `${sample * 100} %` : 'a function'
}

function describeBudget({ budget }: ResolvedOptions): string {
  const limits = [
    `${budget.callsPerMinute} calls a minute`,
    ...(budget.tokensPerHour === DEFAULT_BUDGET.tokensPerHour ? [] : [`${budget.tokensPerHour} tokens an hour`]),
    `${budget.usdPerDay} USD a day`,
  ]
  return `${limits.join(', ')}${budget.share === 1 ? '' : `, of which this process may use ${budget.share}`}`
}
