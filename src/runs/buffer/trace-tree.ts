import { isBesideItsTool, isFlat } from '../trace-span.ts'
import type { SourceSpan } from '../../spans/source-span.ts'
import { TracePlace } from './trace-place.ts'
import type { PlacedSpan } from './trace-place.ts'

/** The tree of one trace, as far as spans have arrived: its recognised spans, and all places that connect them. */
export class TraceTree {
  readonly traceId: string
  /** All places, recognised or not. */
  readonly byId: Map<string, TracePlace> = new Map()
  /** Listed places without a parent here. */
  readonly roots: Set<TracePlace> = new Set()
  /** Places that wait for the parent that they name. */
  readonly #unplaced = new Map<string, TracePlace[]>()
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
    this.#list(place)
    if (isFlat(span)) this.isFlat = true
    if (isBesideItsTool(span)) this.isBeside = true
    const wasActive = place.isActive
    place.span = span
    if (span.isOpen && !wasActive) raiseAbove(place)
  }

  /** The place of a span that has ended, from a file or a request. Spans may come in any order. */
  record({ spanId, parentSpanId = '', parentIsRemote = false }: SourceSpan): TracePlace {
    const above = spanId === parentSpanId ? undefined : this.byId.get(parentSpanId)
    const isRemote = above === undefined && parentIsRemote
    const place = new TracePlace({ spanId, parentId: parentSpanId, isRemote }, above, undefined, 0)
    place.isOpen = false
    this.register(place)
    return place
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

  /** Lists a place in its parent, and so on upwards. */
  #list(place: TracePlace): void {
    let each = place
    for (let { above } = each; above !== undefined; above = each.above) {
      if (each.isListed) return
      each.isListed = true
      ;(above.below ??= []).push(each)
      each = above
    }
    if (this.roots.has(each)) return
    this.roots.add(each)
    if (each.parentId === '') return
    if (each.isLost) this.lost += 1
    const siblings = this.#unplaced.get(each.parentId)
    if (siblings === undefined) this.#unplaced.set(each.parentId, [each])
    else siblings.push(each)
  }

  #putBelow(root: TracePlace, above: TracePlace): void {
    this.roots.delete(root)
    if (root.isLost) this.lost -= 1
    root.above = above
    this.#list(root)
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
