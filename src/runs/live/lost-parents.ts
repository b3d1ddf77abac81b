import type { Dialect } from '../../spans/dialect.ts'
import { toSourceSpan } from '../../spans/from-sdk-span.ts'
import type { SdkSpanLike } from '../../spans/from-sdk-span.ts'
import { saysItsKind } from '../../spans/recognition-hints.ts'
import { roleOf } from '../../spans/recognise.ts'
import { isPlace, MAX_OPEN, mayBeNested, placeOfLost } from '../layout/lost-parents.ts'
import type { LostPlace } from '../layout/lost-parents.ts'
import type { LiveSpan } from './live-span.ts'
import type { LocalSpan, SpanIds } from './local-span.ts'
import type { SpanGroups } from './span-groups.ts'
import type { SpanLinks } from './span-links.ts'

/** In a trace with more kept spans, the place remains unknown. */
const MAX_LOOKED_AT = 4096

/**
 * Parents that are named but never started in this process: spans of another provider, or spans that a sampler dropped. The first
 * recognised span below such a parent decides its place, by the rule that files follow (`nestLost`). After that the parent is found by
 * its ids like any other span, so that everything below it stays together.
 */
export class LostParents {
  readonly #links: SpanLinks
  readonly #groups: SpanGroups

  constructor(links: SpanLinks, groups: SpanGroups) {
    this.#links = links
    this.#groups = groups
  }

  /**
   * Must be called for a recognised span that has a lost parent below its nearest recognised ancestor. Connects the record of the span to
   * the agent or tool that was active, if that is certain. The ancestors of an agent end at the lost parent: it is a run of its own.
   */
  connect(local: LocalSpan, sdkSpan: SdkSpanLike, dialect: Dialect, startOrder: number): void {
    const context = { traceId: local.context.traceId, spanId: local.topId }
    const [startSeconds] = sdkSpan.startTime
    const known = this.#links.find(context, startSeconds)
    const span = toSourceSpan(sdkSpan, startOrder)
    const isNested = !saysItsKind(dialect, span) || mayBeNested({ dialect, span, role: roleOf(dialect, span) })
    if (!isNested) {
      if (known === undefined) this.#links.addLost(context, undefined, false, startSeconds)
      else if (known.above !== undefined || known.isOver) local.above = undefined
      return
    }
    // The record of its parent may have been connected before.
    if (this.#links.nearestRecognised(local.above) !== undefined || this.#links.isBelowOver(local.above)) return
    const lost = known ?? this.#add(context, this.#placeOf(local, dialect, startOrder), startSeconds)
    this.#links.connect(local, lost)
  }

  #add(context: SpanIds, place: LostPlace<LiveSpan> | undefined, startSeconds: number): LocalSpan {
    const above = place?.at && this.#links.get(place.at.sdkSpan)
    return this.#links.addLost(context, above, place?.isAmbiguous === true, startSeconds)
  }

  #placeOf({ context, topId }: LocalSpan, dialect: Dialect, startOrder: number): LostPlace<LiveSpan> | undefined {
    const open: LiveSpan[] = []
    let lookedAt = 0
    for (const group of this.#groups.inTrace(context.traceId)) {
      lookedAt += group.spans.size
      if (lookedAt > MAX_LOOKED_AT) return undefined
      if (group.openCount === 0) continue
      for (const span of group.spans) {
        if (!span.isOpen || (span.span.startOrder ?? 0) >= startOrder) continue
        span.lookAgain()
        if (isPlace(span) && open.push(span) > MAX_OPEN) return undefined
      }
    }
    open.sort((left, right) => (left.span.startOrder ?? 0) - (right.span.startOrder ?? 0))
    return placeOfLost({ topId, dialect }, open, {
      aboveOf: ({ above }) => above,
      topIdOf: ({ wayUp }) => wayUp.topId,
    })
  }
}
