import type { Observation } from './score-instruments.ts'

/** How long an example stays, so that few series are made. */
const KEPT_MS = 300_000
/** How long an example is shown if no other run fails. */
const SHOWN_MS = 6 * 3_600_000
const MAX_EXAMPLES = 2
const MAX_GROUPS = 200

interface Examples {
  readonly attributes: Observation['attributes']
  /** The latest trace ids of failing runs, the newest last. */
  latest: readonly string[]
  shown: readonly string[]
  shownMs: number
}

/** Trace ids of failing runs, two for each scorer of an agent, for a gauge that messages of alerts read. */
export class FailingExamples {
  readonly #now: () => number
  readonly #groups = new Map<string, Examples>()

  constructor(now: () => number) {
    this.#now = now
  }

  /** @param agent as metrics name it */
  add(scorerId: string, agent: string | undefined, traceId: string): void {
    const key = `${scorerId}\n${agent ?? ''}`
    let group = this.#groups.get(key)
    if (group === undefined) {
      if (this.#groups.size >= MAX_GROUPS) return
      const attributes = {
        'gen_ai.evaluation.name': scorerId,
        ...(agent !== undefined && { 'gen_ai.agent.name': agent }),
      }
      group = { attributes, latest: [], shown: [], shownMs: Number.NEGATIVE_INFINITY }
      this.#groups.set(key, group)
    }
    group.latest = [...group.latest.filter((known) => known !== traceId), traceId].slice(-MAX_EXAMPLES)
  }

  *observations(): Iterable<Observation> {
    const now = this.#now()
    for (const group of this.#groups.values()) {
      const isNew = group.latest.some((traceId) => !group.shown.includes(traceId))
      if (isNew && (group.shown.length < MAX_EXAMPLES || now - group.shownMs >= KEPT_MS)) {
        group.shown = group.latest
        group.shownMs = now
      }
      if (now - group.shownMs > SHOWN_MS) group.shown = []
      for (const traceId of group.shown) {
        yield { attributes: { ...group.attributes, 'spanscore.trace_id': traceId }, value: 1 }
      }
    }
  }
}
