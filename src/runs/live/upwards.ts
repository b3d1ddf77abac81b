import { addBelow } from '../layout/assign-spans.ts'
import type { TraceSpan } from '../trace-span.ts'

/** A span with the counts of what is below it. */
interface Branch {
  readonly above: Branch | undefined
  readonly hasOpen: boolean
  openBelow: number
  readonly subtree: { size: number; contentBytes: number }
}

/** A span with what is known about the kinds of spans below it. */
interface Kinds extends Pick<TraceSpan, 'role' | 'holdsOneRun' | 'isOpen'> {
  readonly above: Kinds | undefined
  readonly saidItsKind: boolean
  readonly below: { hasWork: boolean; hasAgents: boolean }
}

/**
 * Must be called when a span has ended. Updates the open counts of its ancestors, up to the first with other open spans.
 *
 * @param onOver called with each span, itself or an ancestor, that has no open spans any more
 */
export function leaveUpwards<Span extends Branch & { readonly above: Span | undefined }>(
  ended: Span,
  onOver: (span: Span) => void,
): void {
  for (let span = ended; !span.hasOpen;) {
    onOver(span)
    const { above } = span
    if (above === undefined) return
    above.openBelow -= 1
    above.subtree.size += span.subtree.size
    above.subtree.contentBytes += span.subtree.contentBytes
    span = above
  }
}

/** Must be called when a span has started or ended. Passes its kind on to its ancestors, as long as that is news to them. */
export function tellUpwards(started: Kinds): void {
  let span = started
  while (span.above !== undefined && (!span.isOpen || span.saidItsKind)) {
    const { below } = span.above
    const { hasWork, hasAgents } = below
    addBelow(below, span, span.below)
    if (hasWork === below.hasWork && hasAgents === below.hasAgents) return
    span = span.above
  }
}
