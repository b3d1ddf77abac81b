import type { AgentRun } from '../../src/model/agent-run.ts'
import type { LiveRun } from '../../src/runs/live/live-run.ts'
import type { ParentSpan } from '../../src/runs/live/span-links.ts'
import { TraceStore } from '../../src/runs/live/trace-store.ts'
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

/** Passes hooks in their order to a store whose clock does not move until the end, and returns the runs as they settled. */
export function replay(spans: readonly SourceSpan[], logs: readonly SourceLog[], order: Hooks): AgentRun[] {
  const byId = new Map(spans.map((span) => [span.spanId, span]))
  const live = new Map<string, ReplayedSpan>()
  const settled: AgentRun[] = []
  let nowMs = 0
  const store = new TraceStore({
    maxOpenRuns: 1000,
    maxSpansPerRun: 2000,
    maxContentBytes: Number.POSITIVE_INFINITY,
    maxRunAgeMs: Number.POSITIVE_INFINITY,
    settleMs: 2000,
    sinceMs: 0,
    now: () => nowMs,
    countsNested: true,
    rescore: false,
    isWanted: () => true,
    onSettled: (run: LiveRun) => {
      const current = run.current()
      if (current !== undefined && !run.nested) settled.push(current)
    },
    onEvicted: () => undefined,
    onDuplicate: () => undefined,
    onLate: () => undefined,
  })
  for (const [spanId, hook, keys] of order) {
    const recorded = byId.get(spanId)
    if (recorded === undefined) continue
    if (hook === 's') {
      const span = new ReplayedSpan(recorded, keys)
      live.set(spanId, span)
      const parent = recorded.parentSpanId === undefined ? undefined : live.get(recorded.parentSpanId)
      store.start(span, parent ?? (recorded.parentSpanId === undefined ? undefined : remote(recorded)))
      for (const log of logs) if (log.spanId === spanId) store.addLog(log)
      continue
    }
    const span = live.get(spanId)
    if (span === undefined) continue
    span.end()
    const node = store.liveSpanOf(span)
    if (node === undefined) store.ordinaryEnded(span)
    else {
      store.ending(node)
      store.ended(node)
    }
  }
  nowMs = 2000
  store.sweep()
  withoutPause(store.settleAgents())
  withoutPause(store.giveUpWaiting())
  return settled
}

function remote({ traceId, parentSpanId = '' }: SourceSpan): ParentSpan {
  return { spanContext: () => ({ traceId, spanId: parentSpanId, traceFlags: 1 }) }
}

/** Runs as text, for comparison: by start, without what only the process or only the file can know. */
export function inOrder(runs: readonly AgentRun[]): string {
  return JSON.stringify(runs.toSorted((a, b) => a.startTimeMs - b.startTimeMs || (a.id < b.id ? -1 : 1)).map(factsOf))
}

/** The content of a run, without what only the process or only the file can know. */
function factsOf(run: AgentRun): unknown {
  const json: Record<string, unknown> = JSON.parse(JSON.stringify(run))
  return {
    ...Object.fromEntries(Object.entries(json).filter(([key]) => key !== 'complete' && key !== 'revision')),
    startTimeMs: Math.round(run.startTimeMs),
    endTimeMs: Math.round(run.endTimeMs),
    children: run.children.map(factsOf),
  }
}

