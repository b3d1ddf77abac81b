import type { Evaluation, Score, SkipReason } from '../model/score.ts'

/** What became of the runs that were offered to one scorer: `offered = scored + skipped + failed + pending`. */
export interface ScorerCounts {
  /** Runs that the scorer was offered. */
  readonly offered: number
  /** Runs with a score. */
  readonly scored: number
  /** Runs for which the scorer was not called. */
  readonly skipped: number
  /** Runs for which the scorer gave no valid score. */
  readonly failed: number
  /** Runs whose score is still awaited. */
  readonly pending: number
  /** How often each skip reason and failure code was given. */
  readonly reasons: Readonly<Record<string, number>>
  /** The calls of the scored runs, in a scorer of calls. */
  readonly calls?: CallCounts
}

/** What became of the calls of runs. */
export interface CallCounts {
  /** Calls with a score. */
  readonly scored: number
  /** Calls that the scorer left out. */
  readonly skipped: number
  /** Calls for which the scorer gave no valid score. */
  readonly failed: number
}

/**
 * What became of the runs that were seen: `seen = closed + open + evicted`. `late` counts spans that came after their run had
 * closed, or after `maxSpansPerRun` others of it. `duplicates` counts runs that another instrumentation, or another version of the same one, had already recorded. They
 * do not count as seen, and are not scored.
 */
export interface RunCounts {
  /** Runs that began. */
  readonly seen: number
  /** Runs that ended, or for whose end the processor stopped waiting. */
  readonly closed: number
  /** Runs in progress. */
  readonly open: number
  /** Runs that were dropped because of a limit. */
  readonly evicted: number
  /** Spans that came after their run had closed, or after `maxSpansPerRun` others of it. */
  readonly late: number
  /** Runs that had been recorded before, by another instrumentation. */
  readonly duplicates: number
}

/** The counts at one moment: of runs, and of what each scorer did with them. */
export interface LedgerSnapshot {
  /** What became of the runs. */
  readonly runs: RunCounts
  /** What became of the runs that each scorer was offered, by the scorer's id. */
  readonly scorers: Readonly<Record<string, ScorerCounts>>
}

interface Counts {
  offered: number
  scored: number
  skipped: number
  failed: number
  reasons: Map<string, number>
  calls: Record<Score['status'], number> | undefined
}

/** Counts runs and scores, so that every run without a score has a reason. It keeps one entry per scorer, and one number per reason. */
export class Ledger {
  readonly #scorers = new Map<string, Counts>()
  #closed = 0
  #evicted = 0
  #late = 0
  #duplicates = 0

  constructor(scorers: Iterable<Pick<Evaluation['scorer'], 'id' | 'level'>>) {
    for (const { id, level } of scorers) {
      const calls = level === 'tool-call' || level === 'retrieval' ? { scored: 0, skipped: 0, failed: 0 } : undefined
      this.#scorers.set(id, { offered: 0, scored: 0, skipped: 0, failed: 0, reasons: new Map(), calls })
    }
  }

  runClosed(): void {
    this.#closed += 1
  }

  runEvicted(): void {
    this.#evicted += 1
  }

  runDuplicate(): void {
    this.#duplicates += 1
  }

  spanLate(): void {
    this.#late += 1
  }

  /** Counts a run that is offered to a scorer. It is pending until `settled` is called for it. */
  offered(scorerId: string): void {
    const counts = this.#scorers.get(scorerId)
    if (counts) counts.offered += 1
  }

  /** Counts a run that was left out before it was offered to the scorer. */
  leftOut(scorerId: string, reason: SkipReason): void {
    const counts = this.#scorers.get(scorerId)
    if (!counts) return
    counts.offered += 1
    counts.skipped += 1
    counts.reasons.set(reason, (counts.reasons.get(reason) ?? 0) + 1)
  }

  /** Counts what became of a run that was offered. It must be called exactly once for each. */
  settled({ scorer, score, calls = [] }: Pick<Evaluation, 'scorer' | 'score' | 'calls'>): void {
    const counts = this.#scorers.get(scorer.id)
    if (!counts) return
    counts[score.status] += 1
    if (counts.calls !== undefined) for (const call of calls) counts.calls[call.score.status] += 1
    if (score.status === 'scored') return
    const reason = score.status === 'skipped' ? score.reason : score.code
    counts.reasons.set(reason, (counts.reasons.get(reason) ?? 0) + 1)
  }

  /** Takes an offered run out of the counts, because another process scores and counts it. */
  withdrawn(scorerId: string): void {
    const counts = this.#scorers.get(scorerId)
    if (counts) counts.offered -= 1
  }

  /** @param open Runs that have begun and are not closed. */
  snapshot(open: number): LedgerSnapshot {
    const scorers: Record<string, ScorerCounts> = {}
    for (const [id, { offered, scored, skipped, failed, reasons, calls }] of this.#scorers) {
      const pending = offered - scored - skipped - failed
      const counted = { offered, scored, skipped, failed, pending, reasons: Object.fromEntries(reasons) }
      scorers[id] = calls === undefined ? counted : { ...counted, calls: { ...calls } }
    }
    return {
      runs: {
        seen: this.#closed + open + this.#evicted,
        closed: this.#closed,
        open,
        evicted: this.#evicted,
        late: this.#late,
        duplicates: this.#duplicates,
      },
      scorers,
    }
  }
}

/** The ledger in one line, for the log at shutdown. */
export function formatLedger({ runs, scorers }: LedgerSnapshot): string {
  const lines = Object.entries(scorers).map(([id, counts]) => {
    const reasons = Object.entries(counts.reasons).map(([reason, count]) => `${reason} ${count}`)
    const detail = reasons.length === 0 ? '' : ` (${reasons.join(', ')})`
    const { calls } = counts
    const ofCalls =
      calls === undefined ? '' : `, calls: ${calls.scored} scored, ${calls.skipped} skipped, ${calls.failed} failed`
    return `${id}: ${counts.offered} offered = ${counts.scored} scored + ${counts.skipped} skipped + ${counts.failed} failed + ${counts.pending} pending${detail}${ofCalls}`
  })
  return [
    `runs: ${runs.seen} seen = ${runs.closed} closed + ${runs.open} open + ${runs.evicted} evicted; ${runs.late} late spans, ${runs.duplicates} duplicates`,
    ...lines,
  ].join('; ')
}
