import { describe, expect, test } from 'vitest'

import { libraryNames, loadLibrary, readScenario } from '../../../test/corpus/load.ts'
import type { Scenario } from '../../../test/corpus/load.ts'
import { orderOf } from '../../../test/corpus/hooks-order.ts'
import type { SdkSpanLike } from '../../spans/from-sdk-span.ts'
import type { SourceSpan } from '../../spans/source-span.ts'
import type { AgentRun } from '../../model/agent-run.ts'
import { buildRuns } from '../build-runs.ts'
import type { LiveRun } from './live-run.ts'
import { TraceStore } from './trace-store.ts'
import type { ParentSpan } from './span-links.ts'

/** A recorded span as an SDK would hand it out: open until its end, with the attributes that were there at its start. */
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

/** Plays the hooks of a recording in their order, and gives the runs as they were settled. */
function replay(
  scenario: Scenario,
  keysAtStart: 'all' | 'none',
  spans: readonly SourceSpan[] = readScenario(scenario).spans,
): AgentRun[] {
  const { logs } = readScenario(scenario)
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
    onEvicted: () => expect.unreachable(),
    onDuplicate: () => undefined,
    onLate: () => undefined,
  })
  for (const [spanId, hook, keys] of scenario.order ?? orderOf(spans, keysAtStart)) {
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
  store.settleAll()
  return settled
}

function remote({ traceId, parentSpanId = '' }: SourceSpan): ParentSpan {
  return { spanContext: () => ({ traceId, spanId: parentSpanId, traceFlags: 1 }) }
}

/** What a run says, but for what only the process or only the file can know. */
function factsOf(run: AgentRun): unknown {
  const json: Record<string, unknown> = JSON.parse(JSON.stringify(run))
  return {
    ...Object.fromEntries(Object.entries(json).filter(([key]) => key !== 'complete' && key !== 'revision')),
    startTimeMs: Math.round(run.startTimeMs),
    endTimeMs: Math.round(run.endTimeMs),
    children: run.children.map(factsOf),
  }
}

/**
 * What only a file tells of runs whose spans are written side by side: which of them belong together where the span around them
 * was lost, and where they ran at the same time.
 */
const ONLY_IN_FILES = new Set([
  ...['11-model-error', '11b-model-error-after-tool', '12-concurrent-http'].map(
    (id) => `traceloop-langchain-createAgent-0.27.0/${id}`,
  ),
  ...[
    '12-concurrent.invoke',
    '11-error-first.invoke.workflow',
    '11b-error-after.invoke.workflow',
    '12-concurrent.invoke.workflow',
  ].map((id) => `traceloop-langchain-createReactAgent-0.27.0/${id}`),
])

/** LangSmith for Python makes its spans from batches, after the work: an outer one has ended before an inner one begins. */
const livingNames = libraryNames().filter((name) => !name.startsWith('python-langsmith'))

describe.each(livingNames)('Spans of %s that end in a process', (library) => {
  const scenarios = loadLibrary(library).filter(
    (scenario) => !ONLY_IN_FILES.has(`${library}/${scenario.id}`) && !isSpread(scenario),
  )

  test.each(['all', 'none'] as const)(
    'make the same runs as in a file, with %s of their attributes at the start',
    (keys) => {
      const different = scenarios.filter((scenario) => {
        const { spans, logs } = readScenario(scenario)
        const ended = new Set(
          (scenario.order ?? orderOf(spans, keys)).filter(([, hook]) => hook === 'e').map(([id]) => id),
        )
        const wanted = buildRuns(
          spans.filter(({ spanId }) => ended.has(spanId)),
          { logs },
        )
        return inOrder(replay(scenario, keys)) !== inOrder(wanted)
      })
      expect(different.map(({ id }) => id)).toEqual([])
    },
  )
})

/** Whether traces of the file are put together, as one run or as two records of it: in a process each is closed for itself. */
function isSpread(scenario: Scenario): boolean {
  const { spans, logs } = readScenario(scenario)
  const apart = [...Map.groupBy(spans, (span) => span.traceId).values()].flatMap((ofTrace) =>
    buildRuns(ofTrace, { logs }),
  )
  return inOrder(apart) !== inOrder(buildRuns(spans, { logs }))
}

function inOrder(runs: readonly AgentRun[]): string {
  return JSON.stringify(runs.toSorted((a, b) => a.startTimeMs - b.startTimeMs || (a.id < b.id ? -1 : 1)).map(factsOf))
}

test('The order of the starts decides between model calls that start in the same millisecond', () => {
  const [scenario] = loadLibrary('ai-7.0.173-otel').filter(({ id }) => id === '02-auth-fetch.generateText')
  expect.assert(scenario !== undefined)
  const { spans } = readScenario(scenario)
  const startTimeMs = Math.min(...spans.map((span) => span.startTimeMs))
  // All at one moment, and the later, the shorter: neither start nor end tells the order.
  const ids = orderOf(spans, 'all').flatMap(([id, hook]) => (hook === 's' ? [id] : []))
  const tied = spans.map((span) => ({ ...span, startTimeMs, endTimeMs: startTimeMs - ids.indexOf(span.spanId) + 1000 }))
  const live = replay({ ...scenario, order: orderOf(spans, 'all') }, 'all', tied)
  expect(namesOf(live)).toEqual(namesOf(buildRuns(spans)))
  expect(live.map((run) => run.output)).toEqual(buildRuns(spans).map((run) => run.output))
})

function namesOf(runs: readonly AgentRun[]): string[][] {
  return runs.map((run) => run.toolCalls.map((call) => call.name))
}
