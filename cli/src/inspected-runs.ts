import type { AgentRun } from '../../src/model/agent-run.ts'
import type { StoredRun } from '../../src/otlp/runs-by-start.ts'
import type { ConversationList } from './conversation-list.ts'

/** Which runs `spanscore inspect` shows. */
export interface Shown {
  /** Whether only runs are shown that failed. */
  readonly failedOnly: boolean
  /** At most this many. */
  readonly limit: number
}

/** Counts runs by how they ended, and by what failed them. */
export class InspectedRuns {
  readonly #byStatus = new Map<string, number>()
  readonly #byScorer = new Map<string, number>()
  #count = 0
  #chosen = 0
  #shown = 0

  /** Number of all runs. */
  get count(): number {
    return this.#count
  }

  /** The runs to show. All runs are counted. */
  async *chosen(
    runs: AsyncIterable<StoredRun>,
    { failedOnly, limit }: Shown,
    conversations: ConversationList,
  ): AsyncGenerator<StoredRun> {
    for await (const stored of runs) {
      const { run } = stored
      this.#count++
      add(this.#byStatus, run.status)
      const failing = failingIn(run, stored.scoresOf)
      for (const scorer of failing) add(this.#byScorer, scorer)
      if (failedOnly && failing.size === 0 && !hasError(run)) continue
      conversations.add(run)
      this.#chosen++
      if (this.#shown === limit) continue
      this.#shown++
      yield stored
    }
  }

  /** How the runs ended, what failed them, and how many are shown; empty if there are none. */
  describe(): string {
    if (this.#count === 0) return ''
    const scorers = this.#byScorer.size === 0 ? '' : `; failed by ${listed(this.#byScorer)}`
    const matched = this.#chosen === this.#count ? '' : ` ${this.#chosen.toLocaleString('en')} failed.`
    const cut = this.#shown === this.#chosen ? '' : ` The first ${this.#shown} are shown (--limit).`
    return `: ${listed(this.#byStatus)}${scorers}.${matched}${cut}`
  }
}

function failingIn(run: AgentRun, scoresOf: StoredRun['scoresOf']): ReadonlySet<string> {
  const own = scoresOf(run).flatMap(({ scorerId, label }) => (label === 'fail' ? [scorerId] : []))
  return new Set([...own, ...run.children.flatMap((child) => [...failingIn(child, scoresOf)])])
}

function hasError(run: AgentRun): boolean {
  return run.status === 'error' || run.children.some(hasError)
}

function add(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1)
}

/** The most frequent first: `290 ok, 10 error`. */
function listed(counts: ReadonlyMap<string, number>): string {
  return [...counts]
    .toSorted((left, right) => right[1] - left[1])
    .map(([name, count]) => `${count.toLocaleString('en')} ${name}`)
    .join(', ')
}
