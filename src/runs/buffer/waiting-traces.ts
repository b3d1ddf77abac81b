import type { TraceBufferOptions } from './trace-buffer-options.ts'
import type { TreeNode } from './tree-node.ts'
import type { OpenTrace } from './open-trace.ts'

/**
 * OpenTraces with model calls outside of agents' runs. More calls may follow: below an open span around them until it ends, in a trace of their
 * own until no more has arrived for a while.
 */
export class WaitingTraces {
  readonly #options: Pick<TraceBufferOptions, 'now' | 'onWaiting'>
  /** OpenTraces that wait for a pause: since when. Those that have waited longest come first. */
  readonly #pausing = new Map<OpenTrace, number>()
  /** OpenTraces that wait for the end of a span around them. */
  readonly #around = new Map<TreeNode, Set<OpenTrace>>()
  /** OpenTraces whose surrounding span has ended. They are laid out in a later turn, because another root of the trace may begin. */
  readonly #freed = new Set<OpenTrace>()

  constructor(options: Pick<TraceBufferOptions, 'now' | 'onWaiting'>) {
    this.#options = options
  }

  get size(): number {
    return this.#pausing.size + this.#freed.size
  }

  /** When the next open trace is due that waits for a pause of so many milliseconds; `undefined` if none does. */
  nextMs(pauseMs: number): number | undefined {
    if (this.#freed.size > 0) return this.#options.now()
    for (const sinceMs of this.#pausing.values()) return sinceMs + pauseMs
    return undefined
  }

  /** An open trace waits for a pause from now on. */
  pause(trace: OpenTrace): void {
    this.#pausing.delete(trace)
    this.#pausing.set(trace, this.#options.now())
    this.#options.onWaiting()
  }

  /** Must be called when an open trace goes on, or is finished. */
  leave(trace: OpenTrace): void {
    this.#pausing.delete(trace)
    this.#freed.delete(trace)
    const { around } = trace
    if (around === undefined) return
    trace.around = undefined
    const traces = this.#around.get(around)
    traces?.delete(trace)
    if (traces?.size === 0) this.#around.delete(around)
  }

  /** An open trace is laid out in a later turn. */
  free(trace: OpenTrace): void {
    this.#freed.add(trace)
    this.#options.onWaiting()
  }

  /** Makes an open trace wait for the outermost open span around it, if there is one. */
  waitsAround(trace: OpenTrace): boolean {
    for (const root of trace.roots) {
      // The spans above a lost parent are not known.
      if (root.isLost) continue
      const first = root.isOpen ? root : outermostOpen(root)
      if (first === undefined || first.span !== undefined) continue
      first.isAwaited = true
      trace.around = first
      const traces = this.#around.get(first)
      if (traces === undefined) this.#around.set(first, new Set([trace]))
      else traces.add(trace)
      return true
    }
    return false
  }

  /** The open traces that waited for the end of a span. */
  around(node: TreeNode): Iterable<OpenTrace> {
    const traces = this.#around.get(node)
    this.#around.delete(node)
    return traces ?? []
  }

  /** Takes the open traces that are due: all that have waited since before that time, and those whose surrounding span has ended. */
  take(beforeMs: number): OpenTrace[] {
    const due = [...this.#freed].filter((trace) => !trace.isDone && trace.open === 0 && !this.waitsAround(trace))
    this.#freed.clear()
    for (const [trace, sinceMs] of this.#pausing) {
      if (sinceMs > beforeMs) break
      this.#pausing.delete(trace)
      due.push(trace)
    }
    return due
  }
}

/** The outermost open span of this process above a node. */
function outermostOpen(node: TreeNode): TreeNode | undefined {
  let found: TreeNode | undefined
  for (let { above } = node; above !== undefined; above = above.above) if (above.isOpen) found = above
  return found
}
