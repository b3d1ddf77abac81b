import type { LiveGroup } from './live-span.ts'
import type { LocalSpan } from './local-span.ts'

/** Groups that wait for the end of an open span around them. */
export class WaitingBelow {
  readonly #around = new Map<LiveGroup, LocalSpan>()
  readonly #groups = new Map<LocalSpan, Set<LiveGroup>>()

  /** Makes a group wait for the end of a span. */
  add(group: LiveGroup, around: LocalSpan): void {
    const groups = this.#groups.get(around)
    if (groups === undefined) this.#groups.set(around, new Set([group]))
    else groups.add(group)
    this.#around.set(group, around)
    around.isAwaited = true
  }

  /** Whether a group waits for an open span. */
  has(group: LiveGroup): boolean {
    return this.#around.get(group)?.open === true
  }

  /** Removes and returns the groups that waited for the end of a span. */
  take(around: LocalSpan): readonly LiveGroup[] {
    const groups = [...(this.#groups.get(around) ?? [])]
    for (const group of groups) this.delete(group)
    return groups
  }

  /** Must be called with a group that waits no longer. */
  delete(group: LiveGroup): void {
    const around = this.#around.get(group)
    if (around === undefined) return
    this.#around.delete(group)
    const groups = this.#groups.get(around)
    groups?.delete(group)
    if (groups?.size !== 0) return
    this.#groups.delete(around)
    around.isAwaited = false
  }
}
