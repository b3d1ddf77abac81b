import type { SourceSpan } from 'spanscore/engine'
import { describe, expect, it } from 'vitest'

import { BUFFER_OPTIONS } from '../../test/buffer-options.ts'
import { runsOf, toRecord } from '../../test/held-records.ts'
import { EMITTED, FINISHED } from '../log/record-states.ts'
import { HeldTraces } from './held-traces.ts'

const TRACE = 'a'.repeat(32)
let nextId = 1
const id = () => (nextId++).toString(16).padStart(16, '0')

interface Made {
  readonly startMs?: number
  readonly endMs?: number
  readonly sender?: string
  readonly traceId?: string
}

function span(attributes: Record<string, unknown>, spanId: string, parentSpanId?: string, made: Made = {}): SourceSpan {
  const { startMs = 1000, endMs = 2000, sender = 'one', traceId = TRACE } = made
  return {
    traceId,
    spanId,
    parentSpanId,
    name: 'gen_ai.operation.name' in attributes ? 'an operation' : 'GET /',
    kind: 1,
    scope: { name: 'test' },
    attributes,
    events: [],
    status: { code: 'unset' },
    startTimeMs: startMs,
    endTimeMs: endMs,
    resource: { 'service.name': sender },
    droppedAttributesCount: 0,
  }
}

const agent = (spanId: string, parent?: string, made?: Made) =>
  span({ 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': 'weather' }, spanId, parent, made)
const chat = (spanId: string, parent?: string, made?: Made) =>
  span({ 'gen_ai.operation.name': 'chat', 'gen_ai.request.model': 'm' }, spanId, parent, made)
const tool = (spanId: string, parent?: string, made?: Made) =>
  span({ 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': 't' }, spanId, parent, made)
const ordinary = (spanId: string, parent?: string, made?: Made) => span({ 'http.method': 'GET' }, spanId, parent, made)

/** Model calls in traces of their own, whose parents never come. */
const orphans = (count: number, sender: string) =>
  Array.from({ length: count }, () => chat(id(), id(), { sender, traceId: id().padStart(32, 'b') }))

const logOf = (traceId: string, spanId: string) => ({
  traceId,
  spanId,
  timeMs: 1,
  attributes: {},
  scope: { name: 'x' },
})

function onlyOne<T>(items: readonly T[]): T {
  const [first] = items
  if (first === undefined || items.length > 1) throw new Error(`Expected one, got ${items.length}.`)
  return first
}

/** Feeds spans at given times. @returns The runs, with the time at which each was settled */
function play(
  arrivals: readonly (readonly [number, readonly SourceSpan[]])[],
  untilMs: number,
  given = BUFFER_OPTIONS,
) {
  const buffer = new HeldTraces(given)
  const runs: { readonly id: string; readonly atMs: number; readonly spans: number }[] = []
  let offset = 1
  const rest = [...arrivals].toSorted((left, right) => left[0] - right[0])
  for (let nowMs = 0; nowMs <= untilMs; nowMs += 500) {
    while (rest[0] !== undefined && rest[0][0] <= nowMs) buffer.add(offset++, toRecord(rest.shift()![1]), nowMs)
    for (const settled of buffer.settle(nowMs).settled) {
      for (const run of runsOf(settled)) runs.push({ id: run.spanId, atMs: nowMs, spans: settled.spans.length })
      buffer.emitted(settled, nowMs)
    }
  }
  return { runs, buffer }
}

describe('when a run is complete', () => {
  it('is settled when nothing of its subtree has arrived for settleMs', () => {
    const [a, b, c] = [id(), id(), id()]
    const { runs } = play(
      [
        [0, [chat(b, a)]],
        [4000, [tool(c, a)]],
        [5000, [agent(a)]],
      ],
      30_000,
    )
    expect(runs).toEqual([{ id: a, atMs: 15_000, spans: 3 }])
  })

  it('is settled once, however late the root arrives after its children', () => {
    const [a, b, c] = [id(), id(), id()]
    const { runs } = play(
      [
        [0, [chat(b, a), tool(c, a)]],
        [60_000, [agent(a)]],
      ],
      120_000,
    )
    expect(runs).toEqual([{ id: a, atMs: 70_000, spans: 3 }])
  })

  it('is complete below a parent that is never exported', () => {
    const [a, b] = [id(), id()]
    const { runs } = play([[0, [agent(a, id()), chat(b, a)]]], 30_000)
    expect(runs).toEqual([{ id: a, atMs: 10_000, spans: 2 }])
  })

  it('waits for an enclosing agent that is still active', () => {
    const [outer, first, call, inner, model] = [id(), id(), id(), id(), id()]
    const { runs } = play(
      [
        [0, [chat(first, outer, { startMs: 0, endMs: 500 })]],
        [1000, [agent(inner, call), chat(model, inner)]],
        [60_000, [tool(call, outer), agent(outer)]],
      ],
      120_000,
    )
    expect(runs).toEqual([{ id: outer, atMs: 70_000, spans: 5 }])
  })

  it('settles each run of a trace of ten minutes on time', () => {
    const session = id()
    const arrivals = Array.from({ length: 600 }, (_, index) => {
      const at = { startMs: index * 1000, endMs: index * 1000 + 900 }
      const a = id()
      return [index * 1000 + 900, [chat(id(), a, at), tool(id(), a, at), agent(a, session, at)]] as const
    })
    const { runs } = play([...arrivals, [601_000, [ordinary(session)]]], 640_000)
    expect(runs).toHaveLength(600)
    for (const [index, run] of runs.entries()) expect(run.atMs - index * 1000 - 900).toBeLessThanOrEqual(11_000)
  })

  it('does not depend on the clock of a sender', () => {
    const [a, b, c] = [id(), id(), id()]
    const ahead = { startMs: 31_000, endMs: 32_000, sender: 'two' }
    const { runs } = play(
      [
        [0, [chat(b, a)]],
        [500, [ordinary(c, b, ahead)]],
        [1000, [agent(a)]],
        [2000, [tool(id(), c, ahead)]],
      ],
      30_000,
    )
    expect(runs).toEqual([{ id: a, atMs: 12_000, spans: 4 }])
  })

  it('creates a revision of a run whose span arrives late, and keeps its key', () => {
    const [a, b] = [id(), id()]
    const buffer = new HeldTraces(BUFFER_OPTIONS)
    buffer.add(1, toRecord([agent(a), chat(b, a)]), 0)
    const first = onlyOne(buffer.settle(10_000).settled)
    expect(runsOf(first).map((run) => run.id)).toEqual([`${TRACE}:${a}`])
    buffer.emitted(first, 10_000)
    const late = tool(id(), a)
    buffer.add(2, toRecord([late]), 60_000)
    const second = onlyOne(buffer.settle(70_000).settled)
    expect(new Map(second.spans.map(({ spanId, body }) => [spanId, body !== undefined]))).toEqual(
      new Map([
        [a, false],
        [b, false],
        [late.spanId, true],
      ]),
    )
  })

  it('creates no run for a span that arrives after its run is finished', () => {
    const [a, b] = [id(), id()]
    const { runs, buffer } = play(
      [
        [0, [agent(a), chat(b, a)]],
        [400_000, [chat(id(), a)]],
      ],
      1_200_000,
    )
    expect(runs).toHaveLength(1)
    expect(buffer.counts.late).toBe(1)
    expect(buffer.traces).toBe(0)
  })

  it('scores a nested agent of another service first if its caller has sent nothing yet, and then the whole run', () => {
    const [outer, call, inner] = [id(), id(), id()]
    const { runs } = play(
      [
        [0, [agent(inner, call, { sender: 'two' })]],
        [60_000, [tool(call, outer), agent(outer)]],
      ],
      120_000,
    )
    expect(runs).toEqual([
      { id: inner, atMs: 10_000, spans: 1 },
      { id: outer, atMs: 70_000, spans: 3 },
    ])
  })

  it('creates a revision for spans that arrive while a run is being scored', () => {
    const a = id()
    const buffer = new HeldTraces(BUFFER_OPTIONS)
    buffer.add(1, toRecord([agent(a)]), 0)
    const first = onlyOne(buffer.settle(10_000).settled)
    buffer.add(2, toRecord([chat(id(), a)]), 11_000)
    buffer.scored(first)
    buffer.emitted(first, 12_000)
    const second = onlyOne(buffer.settle(21_000).settled)
    expect(second.spans.map(({ isEmitted }) => isEmitted)).toEqual([true, false])
  })

  it('knows after a restart what was scored and what was finished', () => {
    const [a, b, c] = [id(), id(), id()]
    const buffer = new HeldTraces(BUFFER_OPTIONS)
    const states = [EMITTED, EMITTED, FINISHED]
    const spans = [agent(a), chat(b, a), chat(c)]
    expect(buffer.add(1, toRecord(spans), 0, (index) => states[index] ?? 0)).toEqual([2])
    expect(buffer.settle(20_000).settled).toEqual([])
    buffer.add(2, toRecord([tool(id(), a)]), 20_000)
    expect(onlyOne(buffer.settle(30_000).settled).spans).toHaveLength(3)
  })

  it('leaves out spans above the byte limit of a trace, and reports it', () => {
    const a = id()
    const buffer = new HeldTraces({ ...BUFFER_OPTIONS, maxBytesPerTrace: 1800 })
    expect(buffer.add(1, toRecord([agent(a), chat(id(), a), chat(id(), a)]), 0)).toEqual([2])
    expect(onlyOne(buffer.settle(10_000).settled)).toMatchObject({ lacksSpans: true })
    expect(buffer.counts.overLimit).toBe(1)
  })

  it('accepts the agent of a trace that is over its limit, so that its run is scored, and a limited number of agents', () => {
    const a = id()
    const buffer = new HeldTraces({ ...BUFFER_OPTIONS, maxSpansPerTrace: 100 })
    const chats = Array.from({ length: 200 }, () => chat(id(), a))
    expect(buffer.add(1, toRecord(chats), 0)).toHaveLength(100)
    expect(buffer.add(2, toRecord([agent(a)]), 0)).toEqual([])
    const settled = onlyOne(buffer.settle(20_000).settled)
    expect(settled.spans).toHaveLength(101)
    expect(runsOf(settled)).toMatchObject([{ complete: false }])
    expect(buffer.add(3, toRecord(Array.from({ length: 200 }, () => agent(id()))), 20_000)).toHaveLength(188)
  })

  it('leaves content above the memory limit on the log, and settles its runs like all others', () => {
    const buffer = new HeldTraces({ ...BUFFER_OPTIONS, maxContentBytes: 5000 })
    for (let index = 0; index < 100; index++) {
      buffer.add(index + 1, toRecord([agent(id(), undefined, { traceId: String(index) })]), 0)
    }
    expect(buffer.contentBytes).toBeLessThanOrEqual(5000)
    const { settled } = buffer.settle(10_000)
    expect(settled).toHaveLength(100)
    const inMemory = settled.filter(({ spans }) => spans[0]?.body !== undefined).length
    expect(inMemory).toBeGreaterThan(0)
    expect(inMemory).toBeLessThan(20)
  })

  it('drops scored runs if many spans are held, and accepts no more spans if none are left', () => {
    const buffer = new HeldTraces({ ...BUFFER_OPTIONS, maxSpans: 100 })
    const add = (index: number, nowMs: number) =>
      buffer.add(index, toRecord([agent(id(), undefined, { traceId: String(index) })]), nowMs)
    for (let index = 1; index <= 90; index++) add(index, 0)
    for (const settled of buffer.settle(10_000).settled) buffer.emitted(settled, 10_000)
    const { finished } = buffer.settle(11_000)
    expect(finished.map(({ traceId }) => traceId)).toEqual(Array.from({ length: 10 }, (_, index) => String(index + 1)))
    expect(buffer.isFull).toBe(false)
    for (let index = 91; index <= 110; index++) add(index, 11_000)
    expect(buffer.isFull).toBe(true)
    buffer.settle(11_100)
    expect(buffer.isFull).toBe(false)
  })

  it('lets spans of the service that holds most wait for their parents no longer than runs, while many spans are held', () => {
    const buffer = new HeldTraces({ ...BUFFER_OPTIONS, maxSpans: 1000 })
    buffer.add(1, toRecord(orphans(50, 'careful')), 0)
    buffer.add(2, toRecord(orphans(400, 'careless')), 0)
    expect(buffer.settle(20_000).settled).toEqual([])
    buffer.add(3, toRecord(orphans(550, 'careless')), 20_000)
    expect(buffer.isFull).toBe(true)
    const services = (nowMs: number) => {
      const { settled } = buffer.settle(nowMs)
      for (const each of settled) buffer.emitted(each, nowMs)
      return settled.map(({ spans: [first] }) => first?.resource['service.name'])
    }
    const early = Array.from({ length: 6 }, (_, index) => services(30_000 + index * 1000)).flat()
    expect(early).not.toContain('careful')
    expect(early.length).toBeGreaterThan(500)
    expect(buffer.isFull).toBe(false)
    expect(services(301_000)).toContain('careful')
  })

  it('forgets log records whose span never arrives', () => {
    const buffer = new HeldTraces(BUFFER_OPTIONS)
    expect(buffer.add(7, toRecord([], [logOf(TRACE, id())]), 0)).toEqual([])
    expect(buffer.settle(299_000).freed).toEqual([])
    expect(buffer.settle(301_000).freed).toMatchObject([{ offset: 7, index: 0 }])
    expect(buffer.traces).toBe(0)
  })

  it('settles a run again for log records that came while it was being scored, if its span had none before', () => {
    const buffer = new HeldTraces(BUFFER_OPTIONS)
    const spanId = id()
    buffer.add(1, toRecord([agent(spanId)]), 0)
    const first = onlyOne(buffer.settle(20_000).settled)
    buffer.add(2, toRecord([], [logOf(TRACE, spanId)]), 21_000)
    expect(first.spans[0]?.usedLogs).toEqual([])
    buffer.emitted(first, 22_000)
    expect(buffer.settle(22_000).settled).toEqual([])
    const second = onlyOne(buffer.settle(40_000).settled)
    expect(second.spans[0]?.usedLogs).toHaveLength(1)
    buffer.add(3, toRecord([], [logOf(TRACE, spanId)]), 41_000)
    buffer.emitted(second, 42_000)
    expect(buffer.settle(100_000).settled).toEqual([])
  })

  it('does not settle a run again whose log records were scored before a restart', () => {
    const spanId = id()
    for (const [ofLog, settled] of [
      [EMITTED, 0],
      [0, 1],
    ] as const) {
      const buffer = new HeldTraces(BUFFER_OPTIONS)
      // A log record may be stored before its span.
      buffer.add(1, toRecord([], [logOf(TRACE, spanId)]), 0, () => ofLog)
      buffer.add(2, toRecord([agent(spanId)]), 0, () => EMITTED)
      expect(buffer.settle(100_000).settled).toHaveLength(settled)
    }
  })

  it('holds as many log records without a span as spans, and leaves out the oldest above it', () => {
    const buffer = new HeldTraces({ ...BUFFER_OPTIONS, maxSpans: 100 })
    for (let offset = 0; offset < 250; offset++)
      buffer.add(offset, toRecord([], [logOf(id().padStart(32, 'e'), id())]), 0)
    expect(buffer.traces).toBe(100)
    expect(buffer.counts.overLimit).toBe(150)
    expect(buffer.settle(1000).freed).toHaveLength(150)
    expect(buffer.settle(301_000).freed).toHaveLength(100)
    // Those whose span has come wait no more.
    const spanId = id()
    for (let offset = 300; offset < 390; offset++) buffer.add(offset, toRecord([], [logOf(TRACE, spanId)]), 302_000)
    buffer.add(400, toRecord([agent(spanId)]), 302_000)
    for (let offset = 401; offset < 500; offset++)
      buffer.add(offset, toRecord([], [logOf(id().padStart(32, 'f'), id())]), 302_000)
    expect(buffer.counts.overLimit).toBe(150)
    const { settled } = buffer.settle(320_000)
    expect(onlyOne(settled).spans[0]?.held).toHaveLength(90)
  })

  it('leaves out spans of a service that wait for parents when nobody could be taken for two seconds', () => {
    const buffer = new HeldTraces({ ...BUFFER_OPTIONS, maxSpans: 100 })
    const other = [agent(id(), undefined, { sender: 'two', traceId: 'c'.repeat(32) })]
    buffer.add(1, toRecord(other), 0)
    buffer.add(2, toRecord(orphans(99, 'one')), 0)
    expect(buffer.isFull).toBe(true)
    expect([...buffer.makeRoom(0), ...buffer.makeRoom(1000)]).toEqual([])
    expect(buffer.isFull).toBe(true)
    const left = buffer.makeRoom(2000).flatMap(({ spans }) => spans)
    expect(left.length).toBeGreaterThan(10)
    expect(left.map(({ resource }) => resource['service.name'])).not.toContain('two')
    expect(buffer.isFull).toBe(false)
    expect(buffer.counts.overLimit).toBe(left.length)
  })
})
