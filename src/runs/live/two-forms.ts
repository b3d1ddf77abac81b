import type { LiveGroup, LiveSpan } from './live-span.ts'

/** As many responses as an application that writes runs twice may have open, and many more. */
const MAX_RESPONSES = 10_000

/** How many of the open groups are compared. */
const MAX_COMPARED = 256

/** How far the starts of the two records of one run may lie apart. */
const MAX_APART_MS = 100

/**
 * Runs of libraries that may write each in two forms at the same time (`Dialect.formOfTwo`), at the top in two traces. In a process
 * traces are closed one by one: the newer form is kept, and one of the older is a second record where the newer form of it is
 * open, or was seen. (For files `dropDuplicateRuns` does the same.)
 */
export class TwoForms {
  /** Open groups of such libraries; `unknown` are those that did not say at their start what they are. */
  readonly #open = { newer: new Set<LiveGroup>(), older: new Set<LiveGroup>(), unknown: new Set<LiveGroup>() }
  /** Runs of the newer form that have ended. */
  readonly #ended: { readonly library: string; readonly agent: string | undefined; readonly startMs: number }[] = []
  readonly #responses = { newer: new Set<string>(), older: new Set<string>() }

  /** To be called when the outermost span of a group has begun. */
  began({ dialect, group, saidItsKind }: LiveSpan): void {
    if (dialect.formOfTwo !== undefined) this.#open[saidItsKind ? dialect.formOfTwo : 'unknown'].add(group)
  }

  /** To be called when a group is over. */
  closed(group: LiveGroup): void {
    this.#open.newer.delete(group)
    this.#open.older.delete(group)
    this.#open.unknown.delete(group)
  }

  /** To be called when a model's span has ended. */
  answered(span: LiveSpan): void {
    if (span.dialect.formOfTwo === 'newer') this.#note('newer', [span])
  }

  /** Whether the run of an agent that has ended is recorded, or is being recorded, in its other form. */
  isSecondRecord(agent: LiveSpan): boolean {
    const { formOfTwo } = agent.dialect
    if (formOfTwo === undefined) return false
    const seen = this.#responses[formOfTwo === 'older' ? 'newer' : 'older']
    // Most applications write one form only: there is nothing to compare with, and no model call is looked at.
    const isCompared = formOfTwo === 'older' || seen.size > 0
    const models = isCompared ? agent.withAllBelow().filter((span) => span.role === 'model' && !span.isOpen) : []
    const ids = models.flatMap((model) => model.model?.responseId ?? [])
    if (ids.length > 0 && seen.size > 0 && ids.every((id) => seen.has(id))) return true
    if (formOfTwo === 'newer') {
      this.#ended.push({ library: agent.dialect.name, agent: agent.agent?.name, startMs: agent.span.startTimeMs })
      if (this.#ended.length > MAX_COMPARED) this.#ended.shift()
      return false
    }
    if (this.#hasEndedLike(agent) || this.#openLike(agent, 'newer') !== undefined) return true
    this.#note('older', models)
    return false
  }

  /** The group that holds the older form of a run in its newer form: what its tools started may be below either. */
  olderFormOf(agent: LiveSpan): LiveGroup | undefined {
    return agent.dialect.formOfTwo === 'newer' ? this.#openLike(agent, 'older') : undefined
  }

  #hasEndedLike({ agent, dialect, span }: LiveSpan): boolean {
    return this.#ended.some(
      (other) =>
        other.library === dialect.name &&
        other.agent === agent?.name &&
        Math.abs(other.startMs - span.startTimeMs) <= MAX_APART_MS,
    )
  }

  /** An open group that began at the same moment, for the same agent. */
  #openLike(agent: LiveSpan, form: 'newer' | 'older'): LiveGroup | undefined {
    return findLike(this.#open[form], agent, form) ?? findLike(this.#open.unknown, agent, form)
  }

  #note(form: 'newer' | 'older', models: readonly LiveSpan[]): void {
    const ids = this.#responses[form]
    for (const model of models) {
      const id = model.model?.responseId
      if (id !== undefined) ids.add(id)
    }
    for (const oldest of ids) {
      if (ids.size <= MAX_RESPONSES) return
      ids.delete(oldest)
    }
  }
}

function findLike(groups: ReadonlySet<LiveGroup>, agent: LiveSpan, form: 'newer' | 'older'): LiveGroup | undefined {
  if (groups.size === 0) return undefined
  let compared = 0
  for (const group of groups) {
    const [root] = group.spans
    compared += 1
    if (compared > MAX_COMPARED) return undefined
    if (root === undefined || group === agent.group) continue
    root.lookAgain()
    if (root.dialect.name !== agent.dialect.name || root.dialect.formOfTwo !== form) continue
    const apartMs = Math.abs(root.span.startTimeMs - agent.span.startTimeMs)
    const name = root.agent?.name
    // The spans of an older form are only looked at beside those of the newer one: its name may still be missing.
    const isSameAgent = name === agent.agent?.name || (form === 'older' && name === undefined)
    if (apartMs <= MAX_APART_MS && isSameAgent) return group
  }
  return undefined
}
