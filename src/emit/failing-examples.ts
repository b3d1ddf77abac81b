import type { Observation } from './score-instruments.ts'

/** How long an example stays, so that few series are made. */
const KEPT_MS = 300_000
/** How long an example is shown if no other run fails. */
const SHOWN_MS = 6 * 3_600_000
const MAX_EXAMPLES = 2
const MAX_GROUPS = 200

/** A failing run. */
interface Example {
  readonly traceId: string
  /** The tool of the first call that fails, where an alert on single runs names it. */
  readonly tool?: string | undefined
}

interface Examples {
  readonly attributes: Observation['attributes']
  /** Whether single runs alert: the latest ones are then shown at once, and stay. */
  readonly isUrgent: boolean
  /** The latest failing runs, the newest last. */
  latest: readonly Example[]
  shown: readonly Example[]
  shownMs: number
}

/** Failing runs, two for each scorer of an agent, for a gauge that messages of alerts read. */
export class FailingExamples {
  readonly #now: () => number
  readonly #groups = new Map<string, Examples>()

  constructor(now: () => number) {
    this.#now = now
  }

  /**
   * @param agent as metrics name it
   * @param isUrgent whether single runs of this scorer alert
   */
  add(scorerId: string, agent: string | undefined, example: Example, isUrgent = false): void {
    const key = `${scorerId}\n${agent ?? ''}`
    let group = this.#groups.get(key)
    if (group === undefined) {
      if (this.#groups.size >= MAX_GROUPS) return
      const attributes = {
        'gen_ai.evaluation.name': scorerId,
        ...(agent !== undefined && { 'gen_ai.agent.name': agent }),
      }
      group = { attributes, isUrgent, latest: [], shown: [], shownMs: Number.NEGATIVE_INFINITY }
      this.#groups.set(key, group)
    }
    const others = group.latest.filter(({ traceId }) => traceId !== example.traceId)
    group.latest = [...others, example].slice(-MAX_EXAMPLES)
  }

  *observations(): Iterable<Observation> {
    const now = this.#now()
    for (const group of this.#groups.values()) {
      const isNew = group.latest.some((example) => !group.shown.includes(example))
      const isOver = group.isUrgent || group.shown.length < MAX_EXAMPLES || now - group.shownMs >= KEPT_MS
      if (isNew && isOver) {
        group.shown = group.latest
        group.shownMs = now
      }
      if (!group.isUrgent && now - group.shownMs > SHOWN_MS) group.shown = []
      for (const { traceId, tool } of group.shown) {
        const ofTool = tool === undefined ? {} : { 'gen_ai.tool.name': tool }
        yield { attributes: { ...group.attributes, 'spanscore.trace_id': traceId, ...ofTool }, value: 1 }
      }
    }
  }
}
