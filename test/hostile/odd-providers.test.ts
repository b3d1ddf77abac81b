import { diag, DiagLogLevel, ROOT_CONTEXT } from '@opentelemetry/api'
import { TracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace'
import type { SpanProcessor } from '@opentelemetry/sdk-trace'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'

import { attachScoring } from '../../src/processor/attach/attach.ts'
import type { AttachedScoring } from '../../src/processor/attach/attach.ts'
import type { ScoringOptions } from '../../src/engine/config/scoring-options.ts'
import { ScoringSpanProcessor } from '../../src/processor/scoring-span-processor.ts'
import { createAnswerPresentScorer } from '../../src/scorers/code/answer-present.ts'
import { agentAttributes } from '../processor/harness.ts'

const lines: string[] = []
const unhandled: unknown[] = []
const note = (...parts: unknown[]): void => void lines.push(parts.join(' '))
const onUnhandled = (reason: unknown): void => void unhandled.push(reason)

beforeEach(() => {
  lines.length = 0
  diag.setLogger({ error: note, warn: note, info: note, debug() {}, verbose() {} }, { logLevel: DiagLogLevel.INFO })
  process.on('unhandledRejection', onUnhandled)
})

afterEach(() => {
  diag.disable()
  process.off('unhandledRejection', onUnhandled)
})

function boom(): never {
  throw new Error('of the host')
}

const getTracer = boom

const traps = ['get', 'has', 'getPrototypeOf', 'ownKeys', 'getOwnPropertyDescriptor', 'set', 'defineProperty'] as const

function revoked(target: object = {}): object {
  const { proxy, revoke } = Proxy.revocable(target, {})
  revoke()
  return proxy
}

/** A real provider whose list of processors is replaced. */
function withList(change: (list: object) => unknown): object {
  const provider = new TracerProvider({
    spanProcessors: [new SimpleSpanProcessor({ exporter: new InMemorySpanExporter() })],
  })
  const active: unknown = Reflect.get(provider, '_activeSpanProcessor')
  if (typeof active !== 'object' || active === null) throw new Error('expected the SDK to have a list of processors')
  Reflect.set(active, '_spanProcessors', change(Reflect.get(active, '_spanProcessors')))
  return provider
}

const providers: Readonly<Record<string, () => unknown>> = {
  ...Object.fromEntries(
    traps.flatMap((trap) => [
      [`a proxy of nothing whose ${trap} throws`, () => new Proxy({ getTracer }, { [trap]: boom })],
      [`a proxy of a provider whose ${trap} throws`, () => new Proxy(new TracerProvider(), { [trap]: boom })],
      [`a list whose ${trap} throws`, () => withList((list) => new Proxy(list, { [trap]: boom }))],
    ]),
  ),
  'a revoked proxy': () => revoked(),
  'a proxy that gives functions for everything': () => new Proxy({}, { get: () => () => boom() }),
  'a proxy that gives itself for everything': () => {
    const self: object = new Proxy({}, { get: (_, key) => (key === 'getTracer' ? getTracer : self) })
    return self
  },
  'a delegate that throws': () => ({ getTracer, getDelegate: boom }),
  'a delegate that is a revoked proxy': () => ({ getTracer, getDelegate: () => revoked() }),
  'a delegate without a prototype': () => ({ getTracer, getDelegate: () => Object.create(null) as object }),
  'a class whose name is a symbol': () => ({ getTracer, constructor: { name: Symbol('n') } }),
  'a class whose name throws': () => Object.defineProperty({ getTracer }, 'constructor', { get: boom }),
  'an addSpanProcessor that throws': () => ({ getTracer, addSpanProcessor: boom }),
  'an active processor that is a revoked proxy': () => ({ getTracer, _activeSpanProcessor: revoked() }),
  'a list that is revoked': () => withList((list) => revoked(list)),
  'a list that is frozen': () => withList((list) => Object.freeze(list)),
  'a list that takes nothing': () => withList((list) => new Proxy(list, { set: () => true })),
  'a list that removes nothing': () => withList((list) => Object.defineProperty(list, 'length', { writable: false })),
  'a list of revoked proxies': () => withList(() => [revoked()]),
  'a list with every replaced': () => withList((list) => Object.assign(list, { every: boom, splice: boom })),
}

describe('attachScoring to', () => {
  test.each(Object.entries(providers))('%s works, reports why it does not, or is a wrong option', async (_, make) => {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the value may be anything
    const provider = make() as TracerProvider
    const options = { scorers: [createAnswerPresentScorer()], tracerProvider: provider }
    const scoring = attachedOrWrong(options)
    if (scoring === undefined) return
    // What says that scoring is attached has read a span.
    expect(lines.filter((line) => line.includes('Attached to'))).toEqual([])
    startSpanOf(provider)
    expect(lines.some((line) => /Nothing is scored|Attached to/.test(line))).toBe(true)
    expect(scoring.ledger().runs.seen).toBe(0)
    attachScoring(options)
    await scoring.forceFlush()
    await scoring.detach()
    await scoring.shutdown()
    expect(unhandled).toEqual([])
  })

  test('a frozen list keeps its processors working', () => {
    const exporter = new InMemorySpanExporter()
    const others = [1, 2].map(() => new SimpleSpanProcessor({ exporter }))
    const provider = new TracerProvider({ spanProcessors: others })
    const active: unknown = Reflect.get(provider, '_activeSpanProcessor')
    if (typeof active !== 'object' || active === null) throw new Error('expected a list of processors')
    const target = [...others]
    Reflect.set(active, '_spanProcessors', new Proxy(target, { deleteProperty: boom, set: refusesOther(others) }))
    attachScoring({ scorers: [createAnswerPresentScorer()], tracerProvider: provider })
    provider
      .getTracer('t')
      .startSpan('s', { attributes: agentAttributes('a') }, ROOT_CONTEXT)
      .end()
    expect(target).toEqual(others)
    expect(exporter.getFinishedSpans()).toHaveLength(2)
  })
})

/** Starts a span if the provider has any that can be started. */
function startSpanOf(provider: TracerProvider): void {
  try {
    provider.getTracer('t').startSpan('s', {}, ROOT_CONTEXT).end()
  } catch {}
}

/** `undefined` if the provider is refused as an option: that is the one error that attachScoring may throw. */
function attachedOrWrong(options: ScoringOptions): AttachedScoring | undefined {
  try {
    return attachScoring(options)
  } catch (error) {
    const message = error instanceof TypeError ? error.message : ''
    if (!message.startsWith('options.tracerProvider: expected an object')) throw error
    return undefined
  }
}

/** Accepts only known values. */
function refusesOther(known: readonly object[]): (target: object, key: string | symbol, value: unknown) => boolean {
  return (target, key, value) => {
    if (!known.some((each) => each === value)) boom()
    return Reflect.set(target, key, value)
  }
}

/** Returns each property once, when the options are checked, and throws after that. */
function readsOnce(): (target: SpanProcessor, key: string | symbol) => unknown {
  const read = new Set<string | symbol>()
  return (target, key) => {
    if (read.has(key)) boom()
    read.add(key)
    return Reflect.get(target, key)
  }
}

test('a processor behind with unreadable hooks throws nothing into the application', async () => {
  const scoring = new ScoringSpanProcessor({
    scorers: [createAnswerPresentScorer()],
    next: new Proxy<SpanProcessor>(new SimpleSpanProcessor({ exporter: new InMemorySpanExporter() }), {
      get: readsOnce(),
    }),
  })
  const provider = new TracerProvider({ spanProcessors: [scoring] })
  provider
    .getTracer('t')
    .startSpan('s', { attributes: agentAttributes('a') }, ROOT_CONTEXT)
    .end()
  await scoring.forceFlush()
  await scoring.shutdown()
  expect(scoring.ledger().scorers['answer_present']).toMatchObject({ offered: 1, scored: 1, pending: 0 })
})
