import type { Dialect } from '../../spans/dialect.ts'
import type { SdkSpanLike } from '../../spans/from-sdk-span.ts'
import { scopeKindOf } from '../../spans/recognition-hints.ts'
import { recognise } from '../../spans/recognise.ts'
import { isBesideItsTool } from '../trace-span.ts'
import { heldBytesOfOpen } from './content-bytes.ts'
import { LiveSpan } from './live-span.ts'
import type { LiveGroup } from './live-span.ts'
import type { LocalSpan } from './local-span.ts'
import { LostParents } from './lost-parents.ts'
import type { SpanGroups } from './span-groups.ts'
import type { ParentSpan, SpanLinks } from './span-links.ts'
import type { TraceStoreOptions } from './trace-store-options.ts'

/** Events of the intake. */
export interface IntakeEvents {
  /** The outermost span of a new group has started. There may now be more than `maxOpenRuns`. */
  readonly onBegun: () => void
  /** A span has started whose library may write each run in two formats. */
  readonly onTwoForms: (span: LiveSpan) => void
  /** A span has started that its library writes beside others of its run. */
  readonly onFlat: (group: LiveGroup) => void
}

/**
 * Takes spans in, and determines the ancestors and the group of each. A span may be recognised at its start, by attributes written later,
 * or not at all.
 */
export class SpanIntake {
  readonly #links: SpanLinks
  readonly #groups: SpanGroups
  readonly #options: TraceStoreOptions
  readonly #events: IntakeEvents
  readonly #lostParents: LostParents
  #started = 0

  constructor(links: SpanLinks, groups: SpanGroups, options: TraceStoreOptions, events: IntakeEvents) {
    this.#links = links
    this.#groups = groups
    this.#options = options
    this.#events = events
    this.#lostParents = new LostParents(links, groups)
  }

  /** How many spans have started. */
  get started(): number {
    return this.#started
  }

  /** Must be called when a span starts, with the active span of its parent context. Returns whether it, or an ancestor, is recognised. */
  start(span: SdkSpanLike, parent: ParentSpan | undefined): boolean {
    const parentSpan = parent && (this.#links.parentOf(parent, span) ?? this.#unseenParent(parent))
    let above = this.#links.nearestRecognised(parentSpan)
    // Spans below an agent whose run nobody wants are ignored.
    if (above?.group.isSkipped === true) {
      this.#links.add(span, this.#links.get(above.sdkSpan), false)
      return false
    }
    const dialect = recogniseSpan(span)
    this.#started += 1
    const isRecognised = dialect !== undefined && dialect !== 'ordinary'
    if (isRecognised && parent !== undefined && this.#recogniseParent(parent))
      above = this.#links.nearestRecognised(parentSpan)
    const local = this.#links.add(span, parentSpan, isRecognised)
    if (dialect === undefined) local.askAgain = this.#started
    if (!isRecognised) return above !== undefined
    const live = this.#begin(span, dialect, local, this.#pastLost(span, dialect, local, above, this.#started))
    if (
      parent !== undefined &&
      parentSpan === undefined &&
      live !== undefined &&
      this.#links.mayHaveForgotten(parent)
    ) {
      live.group.truncated = true
    }
    return true
  }

  /** The record of a recognised span, whether recognised at its start or by attributes written since. */
  liveSpanOf(span: SdkSpanLike): LiveSpan | undefined {
    const local = this.#links.get(span)
    return local?.recognised ?? (local && this.#recogniseLate(span, local))
  }

  #begin(span: SdkSpanLike, dialect: Dialect, local: LocalSpan, above: LiveSpan | undefined): LiveSpan | undefined {
    if (above === undefined && this.#links.isBelowOver(local.above)) {
      this.#options.onLate()
      return undefined
    }
    const group = above?.group ?? this.#openGroup(local.context.traceId)
    const live = this.#add(new LiveSpan(span, dialect, local, above, group, this.#started), local)
    if (above === undefined) {
      group.isSkipped = !group.wanted && !this.#options.countsNested && live.role === 'agent'
      this.#events.onBegun()
    }
    return live
  }

  /** A parent may be recognisable by attributes it received after its start. Then its children need not wait for its end. */
  #recogniseParent(parent: ParentSpan): boolean {
    const local = this.#links.get(parent)
    if (local === undefined || local.askAgain === 0 || !isSdkSpan(parent)) return false
    const startOrder = local.askAgain
    if (this.#recogniseLate(parent, local) !== undefined) return true
    local.askAgain = startOrder
    return false
  }

  /** The record of a span that started before the store existed. Its descendants are marked as incomplete. */
  #unseenParent(parent: ParentSpan): LocalSpan | undefined {
    if (!beganBefore(parent, this.#options.sinceMs)) return undefined
    const dialect = recogniseSpan(parent)
    if (dialect === undefined || dialect === 'ordinary') return undefined
    const local = this.#links.add(parent, undefined, true)
    const live = this.#begin(parent, dialect, local, undefined)
    if (live !== undefined) live.group.truncated = true
    return local
  }

  /** The nearest recognised ancestor of a span, also past a lost parent. */
  #pastLost(
    span: SdkSpanLike,
    dialect: Dialect,
    local: LocalSpan,
    above: LiveSpan | undefined,
    startOrder: number,
  ): LiveSpan | undefined {
    if (!local.isLost || above?.wayUp.topId === local.topId) return above
    this.#lostParents.connect(local, span, dialect, startOrder)
    return this.#links.nearestRecognised(local.above)
  }

  #openGroup(traceId: string): LiveGroup {
    this.#groups.measureNext()
    return this.#groups.open(traceId, this.#options.isWanted(traceId), this.#options.now())
  }

  #add(live: LiveSpan, local: LocalSpan): LiveSpan {
    const { group } = live
    local.recognised = live
    if (isBesideItsTool(live)) live.putBelow(toolAtWork(group) ?? live.above)
    group.openCount += 1
    group.version += 1
    // The first span is kept even if nobody wants the group, because the run is counted by it.
    const isWanted = group.wanted && live.above?.isKept !== false
    live.isKept = group.spans.size === 0 || (isWanted && group.spans.size < this.#options.maxSpansPerRun)
    if (live.isKept) {
      group.spans.add(live)
      this.#groups.setOwnBytes(live, heldBytesOfOpen(live.sdkSpan))
    } else if (group.wanted) {
      group.truncated = true
    }
    if (live.isFlat) this.#events.onFlat(group)
    if (live.dialect.formOfTwo !== undefined) this.#events.onTwoForms(live)
    live.enter()
    if (live.isKept) local.awaitRecognitionAbove(live)
    return live
  }

  /** Many instrumentations, and most hand-written spans, set attributes only after the start. */
  #recogniseLate(span: SdkSpanLike, local: LocalSpan): LiveSpan | undefined {
    const startOrder = local.askAgain
    if (startOrder === 0) return undefined
    local.askAgain = 0
    const dialect = recogniseSpan(span)
    if (dialect === undefined || dialect === 'ordinary') return undefined
    const known = this.#links.nearestRecognised(local.above)
    const above = this.#pastLost(span, dialect, local, known, startOrder)
    // A span below a closed run was counted as late when it started.
    if (above === undefined && this.#links.isBelowOver(local.above)) return undefined
    const group = above?.group ?? this.#openGroup(local.context.traceId)
    const live = this.#add(new LiveSpan(span, dialect, local, above, group, startOrder), local)
    this.#links.recognised(local, span)
    if (local.recognisedBelow !== undefined) this.#adopt(live, local.recognisedBelow)
    local.recognisedBelow = undefined
    if (above === undefined) this.#events.onBegun()
    return live
  }

  /** Spans that began below a span before it was recognised are now below it, and in its group. */
  #adopt(live: LiveSpan, below: Iterable<LiveSpan>): void {
    for (const span of below) {
      span.sameParent = undefined
      const { group } = span
      if (group !== live.group && span === group.top) {
        if (live === live.group.top) this.#groups.mergeBelow(group, live)
        else this.#groups.merge(group, live.group)
      }
      // An agent may be beside the tool that started it.
      if (span.group === live.group && (span.above === undefined || span.above === live.above)) live.takeOver(span)
    }
  }
}

/** The open tool that began last. It starts an agent that the library writes as its sibling. */
function toolAtWork({ spans }: LiveGroup): LiveSpan | undefined {
  return [...spans].findLast((span) => span.isOpen && span.role === 'tool')
}

/** The dialect of a span; `ordinary` if no dialect can ever recognise it. */
function recogniseSpan(span: SdkSpanLike): Dialect | 'ordinary' | undefined {
  const scope = (span.instrumentationScope ?? span.instrumentationLibrary)?.name ?? ''
  return scopeKindOf(scope) === 'ordinary' ? 'ordinary' : recognise(scope, span.attributes, span.name)
}

/** Whether this is an SDK's own span that began before a time in milliseconds since the epoch. */
function beganBefore<Span extends object>(span: Span, timeMs: number): span is Span & SdkSpanLike {
  if (!isSdkSpan(span)) return false
  const { startTime } = span
  return startTime[0] * 1000 + startTime[1] / 1e6 < timeMs
}

/** Whether this is an SDK's own span, and not just a span context. */
function isSdkSpan<Span extends object>(span: Span): span is Span & SdkSpanLike {
  if (!('startTime' in span) || !('attributes' in span)) return false
  return Array.isArray(span.startTime) && typeof span.attributes === 'object' && span.attributes !== null
}
