import { diag, DiagLogLevel, ROOT_CONTEXT } from '@opentelemetry/api'
import type { TracerProvider } from '@opentelemetry/api'
import * as fc from 'fast-check'
import { afterEach, beforeEach, expect, test } from 'vitest'

import { attachScoring } from '../../src/processor/attach/attach.ts'
import { ScoringSpanProcessor } from '../../src/processor/scoring-span-processor.ts'
import { createAnswerPresentScorer } from '../../src/scorers/code/answer-present.ts'
import { agentAttributes } from '../processor/harness.ts'

const said: string[] = []
const unhandled: unknown[] = []
const note = (...parts: unknown[]): void => void said.push(parts.join(' '))
const onUnhandled = (reason: unknown): void => void unhandled.push(reason)

beforeEach(() => {
  diag.setLogger({ error: note, warn: note, info: note, debug() {}, verbose() {} }, { logLevel: DiagLogLevel.INFO })
  process.on('unhandledRejection', onUnhandled)
})

afterEach(() => {
  diag.disable()
  process.off('unhandledRejection', onUnhandled)
})

/** How a property of the host is: as the SDK has it, missing, of another type, throwing when it is called, or when it is read. */
const STATES = ['good', 'good', 'good', 'absent', 'wrong', 'throws', 'getter throws'] as const
type State = (typeof STATES)[number]

function boom(): never {
  throw new Error('of the host')
}

/** Defines the properties of an object in the given states. */
function built(good: Readonly<Record<string, unknown>>, states: Readonly<Record<string, State>>): object {
  const object = {}
  for (const [name, value] of Object.entries(good)) {
    const state = states[name] ?? 'good'
    if (state === 'absent') continue
    if (state === 'getter throws') Object.defineProperty(object, name, { get: boom, configurable: true })
    else Reflect.set(object, name, state === 'wrong' ? 7 : state === 'throws' ? boom : value)
  }
  return object
}

const statesOf = (names: readonly string[]): fc.Arbitrary<Readonly<Record<string, State>>> =>
  fc.record(Object.fromEntries(names.map((name) => [name, fc.constantFrom(...STATES)])))

const SPAN = ['name', 'spanContext', 'attributes', 'events', 'status', 'startTime', 'endTime', 'kind', 'resource']
const MORE_OF_SPAN = ['instrumentationScope', 'links', 'duration', 'isRecording', 'setAttribute']
const PROCESSOR = ['onStart', 'onEnding', 'onEnd', 'forceFlush', 'shutdown'] as const

/** Where a provider keeps its processors, and what may be done to the list. */
const places = ['_activeSpanProcessor', 'activeSpanProcessor', '_registeredSpanProcessors', 'elsewhere'] as const
const freezes = ['nothing', 'nothing', 'nothing', 'list', 'provider'] as const

const worlds = fc.record({
  place: fc.constantFrom(...places),
  frozen: fc.constantFrom(...freezes),
  /** Most spans are those of the SDK; otherwise few would be readable. */
  span: fc.oneof(fc.constant({}), statesOf([...SPAN, ...MORE_OF_SPAN])),
  processors: fc.array(fc.oneof(fc.constant({}), statesOf(PROCESSOR)), { maxLength: 3 }),
  isFrozenSpan: fc.boolean(),
  stripContent: fc.boolean(),
})

test('attaching to made-up providers, processors and spans throws nothing, and says Attached only where runs are seen', async () => {
  await fc.assert(
    fc.asyncProperty(worlds, async ({ place, frozen, span: spanStates, processors, isFrozenSpan, stripContent }) => {
      said.length = 0
      const ended: number[] = []
      const theirs = processors.map((states, index) => {
        const good = {
          onStart() {},
          onEnding() {},
          onEnd: () => void (ended[index] = (ended[index] ?? 0) + 1),
          forceFlush: () => Promise.resolve(),
          shutdown: () => Promise.resolve(),
        }
        return built(good, states)
      })
      const list: object[] = [...theirs]
      const provider = {
        getTracer: () => ({ startSpan: boom }),
        ...(place === '_registeredSpanProcessors'
          ? { _registeredSpanProcessors: list, addSpanProcessor: (each: object) => void list.push(each) }
          : place === 'elsewhere'
            ? { processors: list, addSpanProcessor: (each: object) => void list.push(each) }
            : { [place]: { _spanProcessors: list } }),
      }
      if (frozen === 'list') Object.freeze(list)
      if (frozen === 'provider') Object.freeze(provider)

      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it has all that the option asks for
      const tracerProvider = provider as unknown as TracerProvider
      const scoring = attachScoring({ scorers: [createAnswerPresentScorer()], tracerProvider, stripContent })
      const span = built(goodSpan(), spanStates)
      if (isFrozenSpan) Object.freeze(span)
      let isReached = false
      for (const hook of ['onStart', 'onEnding', 'onEnd'] as const) {
        for (const each of list) {
          const isTheirs = theirs.includes(each)
          isReached ||= !isTheirs
          try {
            const method: unknown = Reflect.get(each, hook)
            if (typeof method === 'function') Reflect.apply(method, each, [span, ROOT_CONTEXT])
          } catch (error) {
            if (!isTheirs) throw error
          }
        }
      }
      await scoring.forceFlush()
      for (const each of list) if (each instanceof ScoringSpanProcessor) await each.forceFlush()

      const isAttached = said.some((line) => line.includes('Attached to'))
      const refusals = said.filter((line) => line.includes('Nothing is scored')).length
      const { seen } = scoring.ledger().runs
      expect({ refusals, seen }).toEqual(isAttached ? { refusals: 0, seen: 1 } : { refusals: 1, seen: 0 })
      expect(isReached || !isAttached).toBe(true)
      // Each of their whole processors gets the span once, unless content has to be taken from it.
      const whole = processors.flatMap((states, index) => (Object.keys(states).length === 0 ? [ended[index]] : []))
      expect(stripContent || whole.every((count) => count === 1)).toBe(true)
      await scoring.detach()
      await scoring.shutdown()
    }),
    { numRuns: 1000 },
  )
  expect(unhandled).toEqual([])
}, 120_000)

function goodSpan(): Readonly<Record<string, unknown>> {
  const ids = { traceId: '0af7651916cd43dd8448eb211c80319c', spanId: 'b7ad6b7169203331', traceFlags: 1 }
  return {
    name: 'invoke_agent weather-agent',
    kind: 0,
    spanContext: () => ids,
    attributes: agentAttributes('weather-agent'),
    events: [],
    links: [],
    status: { code: 0 },
    startTime: [1_700_000_000, 0],
    endTime: [1_700_000_001, 0],
    duration: [1, 0],
    ended: false,
    resource: { attributes: {} },
    instrumentationScope: { name: 'agents' },
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
    isRecording: () => true,
    setAttribute() {},
  }
}
