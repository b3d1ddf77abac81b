import { mayBeNested } from '../layout/lost-parents.ts'
import { isBesideItsTool, isFlat } from '../trace-span.ts'
import type { PlacedSpan, TracePlace } from './trace-place.ts'

/** With more lost parents than that, each of the agents waits for the end of the others. */
const MAX_LOST = 256

/** The tree of one trace, as far as spans have arrived: its recognised spans, and all places that connect them. */
export class TraceTree {
  readonly traceId: string
  /** All places, recognised or not. */
  readonly byId: Map<string, TracePlace> = new Map()
  /** Listed places without a parent here. */
  readonly roots: Set<TracePlace> = new Set()
  /** Places that wait for the parent that they name. */
  readonly #unplaced = new Map<string, Set<TracePlace>>()
  /** How many roots name a parent of this process that was not seen. */
  lost = 0
  /** Whether parents do not show which spans belong together: an agent beside its tool, or a library that writes all spans side by side. */
  isBeside = false
  isFlat = false

  constructor(traceId: string) {
    this.traceId = traceId
  }

  /** Adds a span that a dialect recognises. */
  add(place: TracePlace, span: PlacedSpan): void {
    this.register(place)
    this.list(place)
    if (isFlat(span)) this.isFlat = true
    if (isBesideItsTool(span)) this.isBeside = true
    const wasActive = place.isActive
    place.span = span
    if (span.isOpen && !wasActive) raiseAbove(place)
  }

  /** Adds the place of a span that has ended, from a file or a request. Spans may come in any order. */
  record(place: TracePlace): void {
    place.isOpen = false
    if (place.parentId !== place.spanId) place.above = this.byId.get(place.parentId)
    this.register(place)
  }

  /** Makes a place, and those above it, known by their ids. Places that named it as their parent are below it from now on. */
  register(place: TracePlace): void {
    let each: TracePlace | undefined = place
    while (each !== undefined && this.byId.get(each.spanId) !== each) {
      this.byId.set(each.spanId, each)
      const children = this.#unplaced.get(each.spanId)
      if (children !== undefined) {
        this.#unplaced.delete(each.spanId)
        const top = topOf(each)
        // A cycle of ids stays cut here.
        for (const child of children) if (child !== top) this.#putBelow(child, each)
      }
      each = each.above
    }
  }

  /** Whether the layout may put spans whose parent was not seen below an agent. They are above it if it has the same parent. */
  mayOwnLost(agent: TracePlace): boolean {
    if (this.lost === 0) return false
    if (this.#unplaced.size > MAX_LOST) return true
    const top = topOf(agent)
    for (const [parentId, places] of this.#unplaced) {
      if (parentId === top.parentId) continue
      for (const place of places) if (place.isLost && (place.span === undefined || mayBeNested(place.span))) return true
    }
    return false
  }

  /**
   * Removes a place that is not needed any more, with all below it. Calls back for each of these places, which may forget their ids.
   *
   * @param stays whether a place below it goes on without it
   */
  remove(
    top: TracePlace,
    onRemoved: (place: TracePlace) => void,
    stays: (place: TracePlace) => boolean = () => false,
  ): void {
    if (this.roots.delete(top) && top.isLost) this.lost -= 1
    const { above } = top
    if (above?.below !== undefined) above.below = above.below.filter((each) => each !== top)
    const siblings = this.#unplaced.get(top.parentId)
    siblings?.delete(top)
    if (siblings?.size === 0) this.#unplaced.delete(top.parentId)
    const left: TracePlace[] = []
    const waiting = [top]
    for (let place = waiting.pop(); place !== undefined; place = waiting.pop()) {
      for (const child of place.below ?? []) (stays(child) ? left : waiting).push(child)
      onRemoved(place)
    }
    for (const place of left) {
      // What is above goes on to describe the run: which conversation and user, and what the request was.
      place.removedAbove = place.above ?? place.removedAbove
      place.above = undefined
      place.isListed = false
      this.list(place)
    }
  }

  /** Lists a place in its parent, and so on upwards. */
  list(place: TracePlace): void {
    let each = place
    for (let above = this.#parentOf(each); above !== undefined; above = this.#parentOf(each)) {
      if (each.isListed) return
      each.isListed = true
      if (above.below === undefined) above.below = [each]
      else above.below.push(each)
      each = above
    }
    if (this.roots.has(each)) return
    this.roots.add(each)
    if (each.parentId === '') return
    if (each.isLost) this.lost += 1
    const siblings = this.#unplaced.get(each.parentId)
    if (siblings === undefined) this.#unplaced.set(each.parentId, new Set([each]))
    else siblings.add(each)
  }

  /** The parent of a place. It may have come after a place that had nothing recognised in it, and was not waiting for it. */
  #parentOf(place: TracePlace): TracePlace | undefined {
    if (place.above !== undefined || place.parentId === '') return place.above
    const parent = this.byId.get(place.parentId)
    if (parent !== undefined && topOf(parent) !== place) place.above = parent
    return place.above
  }

  #putBelow(root: TracePlace, above: TracePlace): void {
    this.roots.delete(root)
    if (root.isLost) this.lost -= 1
    root.above = above
    this.list(root)
    if (root.isActive) raiseAbove(root)
  }
}

/** The outermost known place above one. */
export function topOf(place: TracePlace): TracePlace {
  let top = place
  while (top.above !== undefined) top = top.above
  return top
}

/** Must be called when a place has become active. */
function raiseAbove(place: TracePlace): void {
  for (let { above } = place; above !== undefined; above = above.above) {
    above.openBelow += 1
    if (above.openBelow > 1 || above.span?.isOpen === true) return
  }
}

/** Must be called when the span of a place has ended. Calls back with each place that is not active any more, from below. */
export function lower(place: TracePlace, onQuiet: (place: TracePlace) => void): void {
  for (let each = place; !each.isActive;) {
    onQuiet(each)
    const { above } = each
    if (above === undefined) return
    above.openBelow -= 1
    each = above
  }
}
