import type { HeldSpan } from './held-span.ts'
import type { RunUnit } from './held-trace.ts'

/** The loose units of one sender, by the start of their outermost span. */
interface OfSender {
  readonly startsMs: number[]
  /** The earliest arrival of each unit's first span, up to the same index. */
  readonly firstSeenMs: number[]
  /** Until when each unit waits at most, up to the same index: the latest of these times. */
  readonly untilMs: number[]
}

/** A time, and the sender of the unit that has it. */
type Extreme = readonly [sender: string, timeMs: number]

/** The units of a trace that wait for a parent, sorted so that no unit is compared with each of them. */
export class LooseUnits {
  /** Until when any of them waits. */
  readonly untilMs: number = 0
  readonly #senders = new Map<string, OfSender>()
  /** The two senders with the earliest first spans, and those that wait for longest. */
  readonly #earliest: readonly Extreme[]
  readonly #latest: readonly Extreme[]

  /** @param orphanMs how long a span waits for its parent */
  constructor(units: readonly RunUnit[], nowMs: number, orphanMs: (span: HeldSpan) => number) {
    const loose = units
      .filter(({ isOpen, isLoose }) => isOpen && isLoose)
      .map((unit) => ({ unit, untilMs: unit.lastSeenMs + orphanMs(unit.top) }))
      .toSorted((left, right) => left.unit.top.startTimeMs - right.unit.top.startTimeMs)
    for (const { unit, untilMs } of loose) {
      this.untilMs = Math.max(this.untilMs, untilMs)
      if (untilMs > nowMs) this.#add(unit, untilMs)
    }
    const all = [...this.#senders]
    this.#earliest = firstTwo(all.map(([sender, { firstSeenMs }]) => [sender, firstSeenMs.at(-1) ?? 0]))
    this.#latest = firstTwo(all.map(([sender, { untilMs }]) => [sender, -(untilMs.at(-1) ?? 0)]))
  }

  /**
   * Until when a unit may have to wait for one of them that arrived by a time; `undefined` if there is none. Units of another sender count at
   * any time of their own, those of the same one if they start before the end of the unit.
   */
  blockedUntil({ top, spans }: RunUnit, arrivedByMs: number): number | undefined {
    if (this.#senders.size === 0) return undefined
    const sender = senderOf(top)
    const isOther = ([other]: Extreme): boolean => other !== sender
    const earliestMs = this.#earliest.find(isOther)?.[1] ?? Number.POSITIVE_INFINITY
    let untilMs = earliestMs <= arrivedByMs ? -(this.#latest.find(isOther)?.[1] ?? 0) : undefined
    const own = this.#senders.get(sender)
    const at = own === undefined ? -1 : lastBefore(own.startsMs, latestEnd(spans, sender))
    if (own !== undefined && (own.firstSeenMs[at] ?? Number.POSITIVE_INFINITY) <= arrivedByMs)
      untilMs = Math.max(untilMs ?? 0, own.untilMs[at] ?? 0)
    return untilMs
  }

  #add({ top, firstSeenMs }: RunUnit, untilMs: number): void {
    const sender = senderOf(top)
    let own = this.#senders.get(sender)
    if (own === undefined) this.#senders.set(sender, (own = { startsMs: [], firstSeenMs: [], untilMs: [] }))
    own.startsMs.push(top.startTimeMs)
    own.firstSeenMs.push(Math.min(own.firstSeenMs.at(-1) ?? firstSeenMs, firstSeenMs))
    own.untilMs.push(Math.max(own.untilMs.at(-1) ?? untilMs, untilMs))
  }
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
  for (const span of spans) if (senderOf(span) === sender) latestMs = Math.max(latestMs, span.endTimeMs)
  return latestMs
}

/** The spans of a request share one resource object. */
const senders = new WeakMap<object, string>()

/** The service and process of a span: the times of two spans with the same sender are by the same clock. */
function senderOf({ resource }: HeldSpan): string {
  const known = senders.get(resource)
  if (known !== undefined) return known
  const sender = ['service.namespace', 'service.name', 'service.instance.id', 'host.name', 'process.pid']
    .map((name) => JSON.stringify(resource[name]) ?? '')
    .join('\u0000')
  senders.set(resource, sender)
  return sender
}
