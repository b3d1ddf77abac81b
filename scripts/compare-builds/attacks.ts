import { setImmediate as nextTurn } from 'node:timers/promises'

import { ROOT_CONTEXT, trace } from '@opentelemetry/api'
import type { Attributes, Span, Tracer } from '@opentelemetry/api'
import { BasicTracerProvider } from '@opentelemetry/sdk-trace-base'
import type { ReadableSpan, SpanProcessor } from '@opentelemetry/sdk-trace-base'

import type { ScoringOptions } from '../../src/engine/config/scoring-options.ts'
import { rawScorer } from '../../test/fuzz/raw-scorer.ts'
import type { Build } from './build.ts'
import type { Observation } from './observation.ts'

const WORKFLOW: Attributes = { 'gen_ai.operation.name': 'invoke_workflow' }
const AGENT: Attributes = { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': 'a' }
const CHAT: Attributes = { 'gen_ai.operation.name': 'chat', 'gen_ai.request.model': 'm' }
const TOOL: Attributes = { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': 't' }
const HTTP: Attributes = { 'http.request.method': 'GET' }

const ask = (text: string): Attributes => ({
  'gen_ai.input.messages': JSON.stringify([{ role: 'user', parts: [{ type: 'text', content: text }] }]),
  'gen_ai.output.messages': JSON.stringify([{ role: 'assistant', parts: [{ type: 'text', content: text }] }]),
})

interface Attack {
  readonly options?: (build: Build) => Partial<ScoringOptions>
  readonly play: (tracer: Tracer, scoring: InstanceType<Build['ScoringSpanProcessor']>) => void
}

/** Opens a span below another one. */
function open(tracer: Tracer, attributes: Attributes, parent?: Span): Span {
  return tracer.startSpan(
    'span',
    { attributes },
    parent === undefined ? ROOT_CONTEXT : trace.setSpan(ROOT_CONTEXT, parent),
  )
}

/** Spans that are each below the one before. They end from the inside. */
function chain(tracer: Tracer, length: number, kinds: readonly Attributes[], leaf?: Attributes): void {
  const spans: Span[] = []
  for (let depth = 0; depth < length; depth += 1) {
    spans.push(open(tracer, kinds[depth % kinds.length] ?? {}, spans.at(-1)))
    if (leaf !== undefined) open(tracer, leaf, spans.at(-1)).end()
  }
  for (const span of spans.toReversed()) span.end()
}

/** Spans beside each other below one. */
function beside(tracer: Tracer, count: number, root: Attributes, below: (index: number) => Attributes): void {
  const parent = open(tracer, root)
  for (let index = 0; index < count; index += 1) open(tracer, below(index), parent).end()
  parent.end()
}

const throws = (): never => {
  throw new Error('It is broken.')
}

/** What traffic, content and callbacks may do to a process: sizes, depths, spans that never end, and faults. */
const ATTACKS: Readonly<Record<string, Attack>> = {
  '2,000 nested agents': { play: (tracer) => chain(tracer, 2000, [AGENT]) },
  '2,000 nested agents with tools between them, and a chat at each': {
    play: (tracer) => chain(tracer, 4000, [AGENT, TOOL], CHAT),
  },
  '20,000 nested ordinary spans': { play: (tracer) => chain(tracer, 20_000, [HTTP]) },
  'a chat at each of 4,000 nested ordinary spans': { play: (tracer) => chain(tracer, 4000, [HTTP], CHAT) },
  '8,000 chats below one ordinary span': {
    play: (tracer) => beside(tracer, 8000, HTTP, (index) => ({ ...CHAT, ...ask(`${index}`) })),
  },
  '8,000 tools of one agent': { play: (tracer) => beside(tracer, 8000, AGENT, () => TOOL) },
  '2,000 agents below one workflow': { play: (tracer) => beside(tracer, 2000, WORKFLOW, () => AGENT) },
  '2,000 agents below parents that were never seen': {
    play(tracer) {
      for (let index = 1; index <= 2000; index += 1) {
        const spanId = index.toString(16).padStart(16, '0')
        const lost = trace.setSpanContext(ROOT_CONTEXT, { traceId: 'a'.repeat(32), spanId, traceFlags: 1 })
        tracer.startSpan('agent', { attributes: AGENT }, lost).end()
      }
    },
  },
  '50,000 requests that never end, with an ended chat below each': {
    play(tracer) {
      for (let index = 0; index < 50_000; index += 1) open(tracer, CHAT, open(tracer, HTTP)).end()
    },
  },
  '20,000 agents that never end': {
    play(tracer) {
      for (let index = 0; index < 20_000; index += 1) open(tracer, { ...AGENT, ...ask('x'.repeat(1000)) })
    },
  },
  '100,000 log records on one span': {
    play(tracer, scoring) {
      const agent = open(tracer, AGENT)
      for (let index = 0; index < 100_000; index += 1) {
        scoring.logRecordProcessor.onEmit({
          spanContext: agent.spanContext(),
          eventName: 'gen_ai.user.message',
          hrTime: [1_790_000_000, index] as [number, number],
          attributes: {},
          body: { content: 'Hello' },
          instrumentationScope: { name: 'logs' },
        })
      }
      agent.end()
    },
  },
  'a run of 16 MB of text': {
    play: (tracer) => beside(tracer, 16, AGENT, () => ({ ...CHAT, ...ask('word '.repeat(100_000)) })),
  },
  'a run of 4 MB of dense JSON': {
    play: (tracer) =>
      beside(tracer, 4, AGENT, () => ({ ...CHAT, 'gen_ai.input.messages': `[${'{"a":[]},'.repeat(100_000)}1]` })),
  },
  'JSON that is nested 100,000 deep': {
    play: (tracer) => beside(tracer, 4, AGENT, () => ({ ...CHAT, 'gen_ai.output.messages': '['.repeat(100_000) })),
  },
  'a recorded schema with a slow pattern': {
    play(tracer) {
      const parameters = { type: 'object', properties: { a: { type: 'string', pattern: '^(\\w+\\s?)+$' } } }
      const agent = open(tracer, {
        ...AGENT,
        'gen_ai.tool.definitions': JSON.stringify([{ type: 'function', name: 't', parameters }]),
      })
      const args = JSON.stringify({ a: `${'a'.repeat(5000)}!` })
      open(tracer, { ...TOOL, 'gen_ai.tool.call.arguments': args }, agent).end()
      agent.end()
    },
  },
  'callbacks, scorers and the next processor throw': {
    options: () => ({
      scorers: [
        rawScorer({ id: 'throws', kind: 'code', inline: true, assess: throws }),
        rawScorer({ id: 'rejects', kind: 'judge', inline: false, assess: async () => throws() }),
        rawScorer({ id: 'strange', kind: 'code', inline: true, assess: () => 'no verdict' }),
      ],
      onScore: throws,
      redact: throws,
    }),
    play(tracer) {
      for (let index = 0; index < 200; index += 1) chain(tracer, 4, [AGENT, TOOL])
    },
  },
  'a judge that never answers': {
    options: () => ({
      scorers: [rawScorer({ id: 'hangs', kind: 'judge', inline: false, assess: () => new Promise(() => {}) })],
      queueSize: 20,
      shutdownTimeoutMs: 50,
    }),
    play(tracer) {
      for (let index = 0; index < 200; index += 1) chain(tracer, 2, [AGENT, CHAT])
    },
  },
}

/** The outcome of each attack, its processor time, the longest hook, and the heap that is held after it. */
export async function* attacks(build: Build): AsyncGenerator<Observation> {
  // The first run of each path is compiled.
  for (const attack of Object.values(ATTACKS).slice(0, 2)) await run(build, attack)
  for (const [key, attack] of Object.entries(ATTACKS)) {
    const tries = [await run(build, attack), await run(build, attack), await run(build, attack)]
    const least = (cost: 'cpuMs' | 'hookMs' | 'heapMiB') => Math.min(...tries.map((each) => each[cost]))
    const { ledger, thrown, handedOn, ended } = tries[0] ?? throws()
    yield {
      key,
      facts: { runs: ledger.runs, scorers: ledger.scorers, thrown, 'spans that were not handed on': ended - handedOn },
      costs: { 'CPU ms': least('cpuMs'), 'longest hook, CPU ms': least('hookMs'), 'heap MiB': least('heapMiB') },
    }
  }
}

async function run(build: Build, { options, play }: Attack) {
  const next = new Counting()
  const { scorers } = build
  const scoring = new build.ScoringSpanProcessor({
    scorers: [scorers.createAnswerPresentScorer(), scorers.createLoopScorer(), scorers.createToolArgumentsScorer()],
    next,
    queueSize: 100_000,
    budget: { callsPerMinute: Infinity, usdPerDay: Infinity },
    ...options?.(build),
  })
  const timed = new Timed(scoring)
  const provider = new BasicTracerProvider({ spanProcessors: [timed], spanLimits: { attributeCountLimit: 1000 } })
  global.gc?.()
  const heapBefore = heapMiB()
  const before = cpuMs()
  play(provider.getTracer('attack'), scoring)
  const heapAfter = heapMiB()
  await scoring.forceFlush()
  await nextTurn()
  await scoring.shutdown()
  return {
    cpuMs: cpuMs() - before,
    hookMs: timed.longestMs,
    heapMiB: heapAfter - heapBefore,
    ledger: scoring.ledger(),
    thrown: timed.thrown,
    ended: timed.ended,
    handedOn: next.ended,
  }
}

function cpuMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

function heapMiB(): number {
  global.gc?.()
  return process.memoryUsage().heapUsed / 2 ** 20
}

class Counting implements SpanProcessor {
  ended = 0
  onStart() {}
  onEnd() {
    this.ended += 1
  }
  forceFlush = () => Promise.resolve()
  shutdown = () => Promise.resolve()
}

/** Measures each hook of another processor, and counts what it throws. */
class Timed implements SpanProcessor {
  longestMs = 0
  thrown = 0
  ended = 0
  readonly #inner: SpanProcessor
  constructor(inner: object) {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the processors of all builds are processors of the SDK
    this.#inner = inner as SpanProcessor
  }
  onStart(...given: Parameters<SpanProcessor['onStart']>) {
    this.#measure(() => this.#inner.onStart(...given))
  }
  onEnding(span: Parameters<NonNullable<SpanProcessor['onEnding']>>[0]) {
    this.#measure(() => this.#inner.onEnding?.(span))
  }
  onEnd(span: ReadableSpan) {
    this.ended += 1
    this.#measure(() => this.#inner.onEnd(span))
  }
  forceFlush() {
    return this.#inner.forceFlush()
  }
  shutdown() {
    return this.#inner.shutdown()
  }

  #measure(hook: () => void): void {
    const before = cpuMs()
    try {
      hook()
    } catch {
      this.thrown += 1
    }
    this.longestMs = Math.max(this.longestMs, cpuMs() - before)
  }
}
