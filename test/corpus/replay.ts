import type { AgentRun } from '../../src/model/agent-run.ts'
import type { EndedRun } from '../../src/runs/buffer/ended-run.ts'
import { ProcessSpans } from '../../src/runs/buffer/process-spans.ts'
import type { ParentSpan } from '../../src/runs/buffer/process-spans.ts'
import { TraceBuffer } from '../../src/runs/buffer/trace-buffer.ts'
import { withoutPause } from '../../src/scoring/background.ts'
import type { SdkSpanLike } from '../../src/spans/from-sdk-span.ts'
import type { SourceLog, SourceSpan } from '../../src/spans/source-span.ts'
import type { Hooks } from './hooks-order.ts'

/** A recorded span as an SDK would pass it on: open until its end, with the attributes that were set at its start. */
class ReplayedSpan implements SdkSpanLike {
  readonly recorded: SourceSpan
  attributes: Record<string, unknown> = {}
  isOpen = true
  readonly name: string
  readonly kind: number
  readonly links = []
  readonly resource: { readonly attributes: Readonly<Record<string, unknown>> }
  readonly instrumentationScope: { readonly name: string; readonly version?: string }
  readonly parentSpanContext: { spanId: string; isRemote: boolean } | undefined
  readonly startTime: readonly [number, number]

  constructor(recorded: SourceSpan, keysAtStart: readonly string[]) {
    this.recorded = recorded
    this.name = recorded.name
    this.kind = recorded.kind - 1
    this.resource = { attributes: recorded.resource }
    this.instrumentationScope = recorded.scope
    this.parentSpanContext =
      recorded.parentSpanId === undefined
        ? undefined
        : { spanId: recorded.parentSpanId, isRemote: recorded.parentIsRemote === true }
    this.startTime = toTime(recorded.startTimeMs)
    for (const key of keysAtStart) this.attributes[key] = recorded.attributes[key]
  }

  get endTime(): readonly [number, number] {
    return this.isOpen ? [0, 0] : toTime(this.recorded.endTimeMs)
  }

  get events(): SdkSpanLike['events'] {
    return this.recorded.events.map(({ name, timeMs, attributes }) => ({ name, time: toTime(timeMs), attributes }))
  }

  get status(): { code: number; message?: string } {
    const { code, message } = this.recorded.status
    const number = code === 'error' ? 2 : code === 'ok' ? 1 : 0
    return message === undefined ? { code: number } : { code: number, message }
  }

  spanContext(): { traceId: string; spanId: string; traceFlags: number } {
    return { traceId: this.recorded.traceId, spanId: this.recorded.spanId, traceFlags: 1 }
  }

  isRecording(): boolean {
    return this.isOpen
  }

  end(): void {
    this.attributes = { ...this.recorded.attributes }
    this.isOpen = false
  }
}

function toTime(timeMs: number): readonly [number, number] {
  return [Math.floor(timeMs / 1000), Math.round((timeMs % 1000) * 1e6)]
}

/** What a process handed over. */
export interface Replayed {
  /** Final runs that no other one started. */
  readonly runs: readonly AgentRun[]
  /** How many of them were read before they were final, and changed after that. */
  readonly revised: number
}

/** How a recording is replayed. */
export interface ReplayOptions {
  /** `still`: time passes only at the end. `recorded`: by the recorded times, so that what waits is due as in the process. */
  readonly clock: 'still' | 'recorded'
  /** Milliseconds that runs wait for open spans and for further calls. */
  readonly settleMs: number
}

/** Passes hooks in their order to the buffer of a process whose clock does not move until the end, and returns the final runs. */
export function replay(spans: readonly SourceSpan[], logs: readonly SourceLog[], order: Hooks): readonly AgentRun[] {
  return replayTimed(spans, logs, order, { clock: 'still', settleMs: 2000 }).runs
}

/** Passes hooks in their order to the buffer of a process. */
export function replayTimed(
  spans: readonly SourceSpan[],
  logs: readonly SourceLog[],
  order: Hooks,
  { clock, settleMs }: ReplayOptions,
): Replayed {
  const byId = new Map(spans.map((span) => [span.spanId, span]))
  const logsOf = Map.groupBy(logs, (log) => log.spanId)
  const live = new Map<string, ReplayedSpan>()
  const runs: AgentRun[] = []
  const seen = new Map<EndedRun, AgentRun>()
  let [nowMs, revised] = [0, 0]
  const see = (run: EndedRun | undefined): void => {
    const current = run?.current()
    if (run === undefined || current === undefined || run.nested) return
    seen.set(run, current)
  }
  const buffer = new TraceBuffer({
    maxSpansPerRun: 2000,
    memoryBytes: Number.POSITIVE_INFINITY,
    maxIdleMs: Number.POSITIVE_INFINITY,
    maxSyncBytes: 256 * 1024,
    settleMs,
    now: () => nowMs,
    countsNested: true,
    rescore: true,
    isWanted: () => true,
    onSettled: (run, isFinal) => {
      const before = seen.get(run)
      see(run)
      const current = run.current()
      if (!isFinal || current === undefined || run.nested) return
      runs.push(current)
      if (before !== undefined && before !== current) revised += 1
    },
    onEvicted: () => undefined,
    onDuplicate: () => undefined,
    onLate: () => undefined,
    onWaiting: () => undefined,
  })
  const process = new ProcessSpans(buffer, 0)
  const passTo = (atMs: number): void => {
    for (let dueMs = buffer.nextDeadlineMs; dueMs !== undefined && dueMs <= atMs; dueMs = buffer.nextDeadlineMs) {
      nowMs = Math.max(nowMs, dueMs)
      buffer.sweep()
    }
    nowMs = Math.max(nowMs, atMs)
  }
  for (const [spanId, hook, keys] of order) {
    const recorded = byId.get(spanId)
    if (recorded === undefined) continue
    if (clock === 'recorded') passTo(hook === 's' ? recorded.startTimeMs : recorded.endTimeMs)
    if (hook === 's') {
      const span = new ReplayedSpan(recorded, keys)
      live.set(spanId, span)
      const parent = recorded.parentSpanId === undefined ? undefined : live.get(recorded.parentSpanId)
      process.start(span, parent ?? (recorded.parentSpanId === undefined ? undefined : remote(recorded)))
      for (const log of logsOf.get(spanId) ?? []) process.addLog(log)
      continue
    }
    const span = live.get(spanId)
    if (span === undefined) continue
    span.end()
    see(process.ending(span))
    process.ended(span)
  }
  passTo(nowMs + 2 * settleMs)
  withoutPause(buffer.settleAgents())
  withoutPause(buffer.giveUpWaiting())
  return { runs, revised }
}

function remote({ traceId, parentSpanId = '' }: SourceSpan): ParentSpan {
  return { spanContext: () => ({ traceId, spanId: parentSpanId, traceFlags: 1 }) }
}
