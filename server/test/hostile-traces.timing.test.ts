import { setImmediate as nextTurn } from 'node:timers/promises'

import { expect, it } from 'vitest'

import { LongTurns } from '../../test/fuzz/long-turns.ts'
import { loadServiceConfig } from '../src/config/load-config.ts'
import { MemoryLog } from '../src/log/memory-log.ts'
import { parseJsonRequest, toProtobuf } from '../src/receive/json-to-protobuf.ts'
import { RequestReader } from '../src/receive/read-request.ts'
import { ServiceScorer } from '../src/score/service-scorer.ts'
import { Outbox } from '../src/send/outbox.ts'
import { ServiceMeters } from '../src/send/service-meters.ts'
import { Service } from '../src/service.ts'
import { HeldTraces } from '../src/traces/held-traces.ts'
import { BUFFER_OPTIONS } from './buffer-options.ts'
import { toRequest } from './traces.ts'

/** Spans of one request, as a batch processor sends them. */
const BATCH = 512

/** Milliseconds of processor time that one turn may take. */
const LONGEST_MS = 50

type Kind = 'agent' | 'workflow' | 'chat' | 'tool' | 'ordinary'

const OPERATIONS: Readonly<Record<Exclude<Kind, 'ordinary'>, string>> = {
  agent: 'invoke_agent',
  workflow: 'invoke_workflow',
  chat: 'chat',
  tool: 'execute_tool',
}

const text = (key: string, value: string): unknown => ({ key, value: { stringValue: value } })

const idOf = (number: number): string => number.toString(16).padStart(16, '0')

/** A span with a number, below the one with another number. */
function span(kind: Kind, number: number, parent?: number, trace = 1): unknown {
  return {
    traceId: trace.toString(16).padStart(32, '0'),
    spanId: idOf(number),
    ...(parent !== undefined && { parentSpanId: idOf(parent) }),
    name: kind,
    startTimeUnixNano: '1790000000000000000',
    endTimeUnixNano: '1790000001000000000',
    attributes:
      kind === 'ordinary' ? [] : [text('gen_ai.operation.name', OPERATIONS[kind]), text('gen_ai.tool.name', 'search')],
  }
}

/** Spans of which each is below the one before, with others at each depth, in the order in which they end. */
function chain(count: number, kind: Kind, ...leafs: readonly Kind[]): readonly unknown[] {
  const step = 1 + leafs.length
  return Array.from({ length: Math.floor(count / step) }, (_, depth) => {
    const number = 1 + depth * step
    const links = [span(kind, number, depth === 0 ? undefined : number - step)]
    return [...links, ...leafs.map((leaf, index) => span(leaf, number + 1 + index, number))]
  })
    .flat()
    .toReversed()
}

/** Spans beside each other. Those of some kinds have a parent of their own that is never sent. */
function beside(count: number, kinds: readonly Kind[], lost: readonly Kind[]): readonly unknown[] {
  return Array.from({ length: count }, (_, index) => {
    const kind = kinds[index % kinds.length] ?? 'chat'
    return span(kind, 1 + index, lost.includes(kind) ? 10_000_000 + index : undefined)
  })
}

/** Small runs, each in a trace of its own. */
function smallRuns(count: number): readonly unknown[] {
  return Array.from({ length: count }, (_, index) => [
    span('agent', 1, undefined, 1 + index),
    span('chat', 2, 1, 1 + index),
    span('tool', 3, 1, 1 + index),
    span('chat', 4, 1, 1 + index),
  ]).flat()
}

const nowMs = (): number => performance.now()

/** What a service did with spans. */
interface Passed {
  /** Processor time in milliseconds. */
  readonly ms: number
  /** Turns that took long. */
  readonly long: readonly string[]
  /** Runs that were scored. */
  readonly runs: number
}

/** Sends spans through a service, until nothing of them is held. */
async function pass(spans: readonly unknown[]): Promise<Passed> {
  const bodies = Array.from({ length: Math.ceil(spans.length / BATCH) }, (_, index) => {
    const request = toRequest(spans.slice(index * BATCH, (index + 1) * BATCH))
    return toProtobuf(parseJsonRequest(Buffer.from(JSON.stringify(request))))
  })
  const exporter = {
    send: () => Promise.resolve({ status: 'acknowledged' } as const),
    shutdown: () => Promise.resolve(),
  }
  const log = new MemoryLog(nowMs)
  const options = { ...BUFFER_OPTIONS, settleMs: 100, orphanMs: 300, lingerMs: 100, maxSpansPerTrace: spans.length }
  const buffer = new HeldTraces(options)
  const scorer = new ServiceScorer({
    options: loadServiceConfig(undefined, () => undefined).options,
    meters: new ServiceMeters('an instance', undefined),
  })
  const outbox = new Outbox({ logs: exporter, spans: exporter, report: () => undefined, now: nowMs })
  const reader = await RequestReader.create({ maxSpansPerRequest: BATCH, maxSpanBytes: 1 << 20 })
  const service = new Service({
    log,
    reader,
    buffer,
    scorer,
    outbox,
    nowMs,
    take: () => scorer.take(),
    report: () => undefined,
  })
  service.start()
  const turns = new LongTurns(LONGEST_MS)
  let ms = 0
  while (bodies.length > 0 || buffer.heldSpans > 0 || service.scoring > 0) {
    const end = turns.begin('a turn')
    const before = process.threadCpuUsage()
    const body = bodies.shift()
    if (body !== undefined)
      await log.append({ record: { signal: 'traces', encoding: 'protobuf', contentEncoding: '', body } })
    await nextTurn()
    end()
    const { user, system } = process.threadCpuUsage(before)
    // Shorter turns have hardly anything to do.
    if (user + system > 1000) ms += (user + system) / 1000
  }
  expect(service.counts.errors).toBe(0)
  await service.stop(0)
  expect(service.counts.revisions).toBe(0)
  return { ms, long: turns.report().own.map((turn) => turn.text), runs: service.counts.runs }
}

async function leastMs(make: (count: number) => readonly unknown[], count: number): Promise<number> {
  const times: number[] = []
  for (let time = 0; time < 2; time++) times.push((await pass(make(count))).ms)
  return Math.min(...times)
}

it.each<[string, (count: number) => readonly unknown[]]>([
  ['a chain of ordinary spans', (count) => chain(2 * count, 'ordinary')],
  ['agents at each depth of a chain of ordinary spans', (count) => chain(2 * count, 'ordinary', 'agent')],
  ['model calls at each depth of a chain of ordinary spans', (count) => chain(count, 'ordinary', 'chat')],
  ['model calls and tools at each depth of a chain of tools', (count) => chain(count, 'tool', 'chat', 'tool')],
  ['agents beside model calls whose parents are lost', (count) => beside(count, ['agent', 'chat'], ['chat'])],
  [
    'ordinary spans beside model calls whose parents are lost',
    (count) => beside(count, ['ordinary', 'chat'], ['chat']),
  ],
])('A trace takes time in proportion to its spans: %s', async (_, make) => {
  const few = await leastMs(make, 1000)
  const many = await leastMs(make, 12_000)
  // There are twelve times as many spans; to compare each with all others would take up to 144 times as long.
  expect(many / few).toBeLessThan(14)
})

/** Times that spans are sent until no turn is long: a machine that pauses does so once. */
const TRIES = 3

it.each<[string, readonly unknown[], number]>([
  ['1,000 runs that are complete together', smallRuns(1000), 1000],
  ['4,000 agents in one trace', beside(4000, ['agent'], ['agent']), 4000],
  ['agents at each depth of a chain', chain(4000, 'ordinary', 'agent'), 2000],
])('Turns of the event loop are short while runs are scored: %s', async (_, spans, count) => {
  let passed = await pass(spans)
  for (let time = 1; time < TRIES && passed.long.length > 0; time++) passed = await pass(spans)
  expect(passed.long).toEqual([])
  expect(passed.runs).toBe(count)
})
