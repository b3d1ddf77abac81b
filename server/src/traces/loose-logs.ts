import { DueTimes } from './due-times.ts'
import type { HeldLog, HeldSpan, SpanPlace } from './held-span.ts'
import { listIn } from './held-trace.ts'
import type { HeldTrace } from './held-trace.ts'

/** Log records that arrived before their span. They wait as long as spans wait for their parent. */
export class LooseLogs {
  readonly #due = new DueTimes<HeldTrace>()

  /** @returns false if the span already has too many */
  add(
    trace: HeldTrace,
    spanId: string,
    log: HeldLog,
    limits: { readonly count: number; readonly dueMs: number },
  ): boolean {
    const early = listIn(trace.looseLogs, spanId)
    if (early.length >= limits.count) return false
    early.push(log)
    this.#due.set(trace, limits.dueMs)
    return true
  }

  /** Their span arrived. @returns its log records */
  attach(trace: HeldTrace, span: HeldSpan): readonly HeldLog[] {
    const early = trace.looseLogs.get(span.spanId)
    if (early === undefined) return NONE
    trace.looseLogs.delete(span.spanId)
    ;(span.logs ??= []).push(...early)
    return early
  }

  /** Drops those whose span never arrived. @returns their traces, and their positions on the log */
  take(nowMs: number): { readonly traces: readonly HeldTrace[]; readonly places: readonly SpanPlace[] } {
    const traces = this.#due.take(nowMs)
    const places = traces.flatMap(({ looseLogs }) => [...looseLogs.values()].flat())
    for (const { looseLogs } of traces) looseLogs.clear()
    return { traces, places }
  }
}

const NONE: readonly HeldLog[] = []
