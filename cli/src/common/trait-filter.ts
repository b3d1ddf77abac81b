import type { AgentRun } from '../../../src/model/agent-run.ts'
import { traitText } from '../../../src/traits/trait.ts'
import type { Trait } from '../../../src/traits/trait.ts'
import { UsageError } from '../usage-error.ts'

/** How many keys are remembered, to list them if nothing matches. */
const MAX_SEEN = 40

/** Chooses runs by `agent=NAME`, and by traits such as `app.plan=free`. Conditions with one key are alternatives; all keys must match. */
export class TraitFilter {
  readonly #wanted = new Map<string, Set<string>>()
  readonly #seenKeys = new Set<string>()
  #matched = false

  /** @throws UsageError if a condition is no `key=value` */
  constructor(conditions: readonly string[]) {
    for (const condition of conditions) {
      const [, key, value] = /^\s*([^=]+?)\s*=\s*(.+?)\s*$/s.exec(condition) ?? []
      if (key === undefined || value === undefined) {
        throw new UsageError(`--where: expected a trait such as agent=NAME or app.plan=free, got ${condition}`)
      }
      const values = this.#wanted.get(key) ?? new Set()
      this.#wanted.set(key, values.add(value))
    }
  }

  matches(run: AgentRun, traits: readonly Trait[]): boolean {
    if (this.#wanted.size === 0) return true
    for (const { key } of traits) if (this.#seenKeys.size < MAX_SEEN) this.#seenKeys.add(key)
    const isChosen = [...this.#wanted].every(([key, values]) =>
      key === 'agent'
        ? values.has(run.agent.name ?? '')
        : traits.some((trait) => trait.key === key && values.has(trait.value)),
    )
    this.#matched ||= isChosen
    return isChosen
  }

  /** @throws UsageError if there are conditions that no run met */
  check(): void {
    if (this.#wanted.size === 0 || this.#matched) return
    const wanted = [...this.#wanted].flatMap(([key, values]) => [...values].map((value) => traitText({ key, value })))
    throw new UsageError(
      `--where: no run has ${wanted.join(' and ')}; traits of the runs: agent, ${[...this.#seenKeys].join(', ')}`,
    )
  }
}
