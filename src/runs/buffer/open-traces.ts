import type { SourceLog } from '../../spans/source-span.ts'
import { bytesOfMoreLogs, takeLog, takeSpan } from './content-bytes.ts'
import type { LiveSpan } from './tree-node.ts'
import type { TraceBufferOptions } from './trace-buffer-options.ts'
import { OpenTrace } from './open-trace.ts'

type OpenTracesOptions = Pick<TraceBufferOptions, 'memoryBytes' | 'maxIdleMs' | 'now' | 'isWanted' | 'onWaiting'>

/** All open traces, those first in which nothing has happened for longest, and what they hold together. */
export class OpenTraces implements Iterable<OpenTrace> {
  readonly #options: OpenTracesOptions
  readonly #traces = new Map<string, OpenTrace>()
  /** The ends of the list of all open traces. Finding the first entry of a map takes long if many before it were removed. */
  #oldest: OpenTrace | undefined
  #latest: OpenTrace | undefined
  /** The open trace whose open spans are measured next. */
  #measured: OpenTrace | undefined
  #heldBytes = 0
  #openRuns = 0

  constructor(options: OpenTracesOptions) {
    this.#options = options
  }

  get size(): number {
    return this.#traces.size
  }

  /** Estimated bytes in memory. */
  get heldBytes(): number {
    return this.#heldBytes
  }

  /** Runs that have begun and are not final. */
  get openRuns(): number {
    return this.#openRuns
  }

  get(traceId: string): OpenTrace | undefined {
    return this.#traces.get(traceId)
  }

  /** The open trace, which begins if there is none. */
  of(traceId: string): OpenTrace {
    const known = this.#traces.get(traceId)
    if (known !== undefined) {
      this.#touch(known)
      return known
    }
    this.#measureNext()
    const trace = new OpenTrace(traceId, this.#options.isWanted(traceId), this.#options.now())
    this.#traces.set(traceId, trace)
    this.#append(trace)
    if (this.#oldest === trace) this.#options.onWaiting()
    return trace
  }

  [Symbol.iterator](): Iterator<OpenTrace> {
    return this.#traces.values()
  }

  get oldest(): OpenTrace | undefined {
    return this.#oldest
  }

  /** Whether the open traces hold too much. */
  get isOverBounds(): boolean {
    return this.#heldBytes > this.#options.memoryBytes
  }

  /** When nothing has happened for too long in the first open trace. */
  get tooIdleMs(): number | undefined {
    return this.#oldest && this.#oldest.activeMs + this.#options.maxIdleMs
  }

  /** Must be called when a recognised span has begun. */
  add(trace: OpenTrace, span: LiveSpan): void {
    if (span.outermost === span) {
      trace.tops.add(span)
      this.#openRuns += 1
    }
    if (span.sdk === undefined) return
    span.ownBytes = takeSpan(span.sdk).heldBytes
    this.#count(trace, span, span.ownBytes)
  }

  /** Must be called when a recognised span is ending. It is final from now on. */
  end(trace: OpenTrace, span: LiveSpan): void {
    this.#touch(trace)
    if (span.sdk === undefined) return
    const taken = takeSpan(span.sdk)
    span.end(taken)
    span.contentBytes += taken.contentBytes
    this.#count(trace, span, taken.heldBytes - span.ownBytes)
  }

  addLog(trace: OpenTrace, span: LiveSpan, log: SourceLog): void {
    const taken = takeLog(log)
    span.addLog(taken.log)
    span.contentBytes += taken.contentBytes + bytesOfMoreLogs(span.logCount)
    this.#count(trace, span, taken.heldBytes)
  }

  /** A run with this outermost span is final, or given up. */
  close(trace: OpenTrace, top: LiveSpan): void {
    if (trace.tops.delete(top)) this.#openRuns -= 1
  }

  /** Drops the oldest final runs of an open trace that goes on. */
  forgetFinal(trace: OpenTrace): void {
    trace.forgetFinal((span) => this.#count(trace, span, -span.heldBytes))
  }

  /** Forgets an open trace. */
  finish(trace: OpenTrace): void {
    if (trace.isDone) return
    this.#traces.delete(trace.traceId)
    this.#unlink(trace)
    this.#heldBytes -= trace.heldBytes
    this.#openRuns -= trace.tops.size
    trace.finish()
  }

  /** Something has happened in an open trace. */
  #touch(trace: OpenTrace): void {
    trace.activeMs = this.#options.now()
    if (this.#latest === trace) return
    this.#unlink(trace)
    this.#append(trace)
  }

  #append(trace: OpenTrace): void {
    trace.older = this.#latest
    trace.newer = undefined
    if (this.#latest === undefined) this.#oldest = trace
    else this.#latest.newer = trace
    this.#latest = trace
  }

  #unlink(trace: OpenTrace): void {
    const { older, newer } = trace
    if (older === undefined) this.#oldest = newer
    else older.newer = newer
    if (newer === undefined) this.#latest = older
    else newer.older = older
  }

  /** Spans get attributes while they are open. With each new open trace, the outermost spans of another one are measured again. */
  #measureNext(): void {
    const trace = this.#measured?.isDone === false ? this.#measured : this.#oldest
    if (trace === undefined) return
    this.#measured = trace.newer
    for (const top of trace.tops) {
      if (!top.isOpen || top.sdk === undefined) continue
      const bytes = Math.max(top.ownBytes, takeSpan(top.sdk).heldBytes)
      this.#count(trace, top, bytes - top.ownBytes)
      top.ownBytes = bytes
    }
  }

  /** Counts that a span, or something of it, is in memory. */
  #count(trace: OpenTrace, span: LiveSpan, bytes: number): void {
    span.heldBytes += bytes
    trace.heldBytes += bytes
    this.#heldBytes += bytes
  }
}
