import type { HeldSpan, RunUnit } from './held-span.ts'

/** When to look for them again. */
interface Validity {
  readonly nowMs: number
  /** How long spans wait for a missing parent. */
  readonly orphanMs: number
}

/** The loose units of one sender, by the start of their outermost span. */
interface OfSender {
  readonly startsMs: number[]
  /** The earliest arrival of each unit's first span, up to the same index. */
  readonly firstSeenMs: number[]
  /** The latest arrival of a span of each unit, up to the same index. */
  readonly lastSeenMs: number[]
}

/** A time, and the sender of the unit that has it. */
type Extreme = readonly [sender: string, timeMs: number]

/** The units of a trace that wait for a parent, sorted so that no unit is compared with each of them. */
export class LooseUnits {
  /** When the latest span of any of them arrived. */
  readonly lastSeenMs: number
  /** Whether the state of one of them has changed. */
  isStale = false
  readonly #senders = new Map<string, OfSender>()
  readonly #orphanMs: number
  readonly #builtMs: number
  /** When the first of them has waited for long enough. */
  #validUntilMs = Number.POSITIVE_INFINITY
  /** The two senders with the earliest first spans, and those with the latest spans. */
  #earliest: readonly Extreme[] = []
  #latest: readonly Extreme[] = []

  constructor(units: Iterable<RunUnit>, { nowMs, orphanMs }: Validity) {
    this.#builtMs = nowMs
    this.#orphanMs = orphanMs
    const loose = [...units].filter(isLoose)
    this.lastSeenMs = latestOf(loose)
    const waiting = loose.filter(({ state, lastSeenMs }) => state !== 'emitted' && lastSeenMs + orphanMs > nowMs)
    for (const unit of waiting.toSorted((left, right) => left.top.startTimeMs - right.top.startTimeMs)) this.#add(unit)
    const all = [...this.#senders]
    this.#earliest = firstTwo(all.map(([sender, { firstSeenMs }]) => [sender, firstSeenMs.at(-1) ?? 0]))
    this.#latest = firstTwo(all.map(([sender, { lastSeenMs }]) => [sender, -(lastSeenMs.at(-1) ?? 0)]))
  }

  /** Whether they are still what was found. Within one look at a trace they are, so that each look finds them once. */
  isValid(nowMs: number): boolean {
    return nowMs === this.#builtMs || (!this.isStale && nowMs < this.#validUntilMs)
  }

  /**
   * Until when a unit may have to wait for one of them that arrived by a time; `undefined` if there is none. Units of another sender count at
   * any time of their own, those of the same one if they start before the end of the unit.
   */
  blockedUntil({ top, spans }: RunUnit, arrivedByMs: number): number | undefined {
    const { sender } = top
    const isOther = ([other]: Extreme): boolean => other !== sender
    const earliestMs = this.#earliest.find(isOther)?.[1] ?? Number.POSITIVE_INFINITY
    let lastSeenMs = earliestMs <= arrivedByMs ? -(this.#latest.find(isOther)?.[1] ?? 0) : undefined
    const own = this.#senders.get(sender)
    const at = own === undefined ? -1 : lastBefore(own.startsMs, latestEnd(spans, sender))
    if (own !== undefined && (own.firstSeenMs[at] ?? Number.POSITIVE_INFINITY) <= arrivedByMs)
      lastSeenMs = Math.max(lastSeenMs ?? 0, own.lastSeenMs[at] ?? 0)
    return lastSeenMs === undefined ? undefined : lastSeenMs + this.#orphanMs
  }

  #add({ top: { sender, startTimeMs }, firstSeenMs, lastSeenMs }: RunUnit): void {
    let own = this.#senders.get(sender)
    if (own === undefined) this.#senders.set(sender, (own = { startsMs: [], firstSeenMs: [], lastSeenMs: [] }))
    own.startsMs.push(startTimeMs)
    own.firstSeenMs.push(Math.min(own.firstSeenMs.at(-1) ?? firstSeenMs, firstSeenMs))
    own.lastSeenMs.push(Math.max(own.lastSeenMs.at(-1) ?? lastSeenMs, lastSeenMs))
    this.#validUntilMs = Math.min(this.#validUntilMs, lastSeenMs + this.#orphanMs)
  }
}

/** Whether a span waits for its parent and cannot be the outermost one of a run. */
export function isDangling({ isAnchor, parentSpanId, parent }: HeldSpan): boolean {
  return !isAnchor && parentSpanId !== undefined && parent === undefined
}

/** Whether a unit waits for a parent. */
export function isLoose(unit: RunUnit): boolean {
  return unit.recognised > 0 && isDangling(unit.top)
}

function firstTwo(extremes: readonly Extreme[]): readonly Extreme[] {
  return extremes.toSorted(([, left], [, right]) => left - right).slice(0, 2)
}

/** The index of the last one of sorted times that is before another time; -1 if none is. */
function lastBefore(timesMs: readonly number[], timeMs: number): number {
  let low = 0
  let high = timesMs.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((timesMs[middle] ?? 0) < timeMs) low = middle + 1
    else high = middle
  }
  return low - 1
}

/** When the last one of a sender's spans ended, by its clock. */
function latestEnd(spans: readonly HeldSpan[], sender: string): number {
  let latestMs = Number.NEGATIVE_INFINITY
  for (const span of spans) if (span.sender === sender) latestMs = Math.max(latestMs, span.endTimeMs)
  return latestMs
}

function latestOf(units: readonly RunUnit[]): number {
  let latestMs = 0
  for (const { lastSeenMs } of units) latestMs = Math.max(latestMs, lastSeenMs)
  return latestMs
}
