import { diag, DiagLogLevel, ROOT_CONTEXT } from '@opentelemetry/api'
import { BasicTracerProvider } from '@opentelemetry/sdk-trace-base'
import type { ReadableSpan, SpanProcessor } from '@opentelemetry/sdk-trace-base'
import { describe, expect, test } from 'vitest'

import { ScoringSpanProcessor } from '../../src/processor/scoring-span-processor.ts'
import { agentAttributes, codeScorer, expectBalanced, judgeScorer, runAgent } from '../processor/harness.ts'
import { noteUnhandledRejections } from '../unhandled-rejections.ts'

const unhandled = noteUnhandledRejections()

/** The processor behind ours. */
class Ended implements SpanProcessor {
  readonly ended: string[] = []
  readonly #look: (span: ReadableSpan) => void
  constructor(look: (span: ReadableSpan) => void = () => undefined) {
    this.#look = look
  }
  onStart() {}
  onEnd(span: ReadableSpan) {
    this.ended.push(span.name)
    this.#look(span)
  }
  async forceFlush() {}
  async shutdown() {}
}

const throws = (): never => {
  throw new Error('unreadable')
}
const spoilt: Readonly<Record<string, (span: object) => void>> = {
  'attributes that throw': (span) => Object.defineProperty(span, 'attributes', { get: throws }),
  'attributes behind a proxy': (span) =>
    Object.defineProperty(span, 'attributes', { value: new Proxy({}, { ownKeys: throws, get: throws }) }),
  'no attributes': (span) => Object.defineProperty(span, 'attributes', { value: null }),
  'an attribute that throws': (span) =>
    Object.defineProperty(Reflect.get(span, 'attributes') as object, 'input.value', { get: throws, enumerable: true }),
  'no events': (span) => Object.defineProperty(span, 'events', { value: undefined }),
  'events that are none': (span) => Object.defineProperty(span, 'events', { value: [null, 5, { attributes: null }] }),
  'links that are none': (span) => Object.defineProperty(span, 'links', { value: [null, { attributes: 7 }] }),
  'a status that throws': (span) => Object.defineProperty(span, 'status', { get: throws }),
  'no resource': (span) => Object.defineProperty(span, 'resource', { value: undefined }),
  'a scope that throws': (span) => Object.defineProperty(span, 'instrumentationScope', { get: throws }),
  'a parent that throws': (span) => Object.defineProperty(span, 'parentSpanContext', { get: throws }),
  'a kind that throws': (span) => Object.defineProperty(span, 'kind', { get: throws }),
}

describe.each([true, false])('with stripContent: %s', (stripContent) => {
  test.each(Object.entries(spoilt))('a span with %s is passed on once, without content', async (_, spoil) => {
    const exported: unknown[] = []
    let ended = 0
    const next = new Ended((span) => {
      ended += 1
      for (const part of ['attributes', 'events', 'links', 'status'] as const) {
        if (stripContent) exported.push(JSON.stringify(span[part]))
      }
    })
    const scoring = new ScoringSpanProcessor({ scorers: [codeScorer('c'), judgeScorer('j')], next, stripContent })
    const tracer = new BasicTracerProvider({ spanProcessors: [scoring] }).getTracer('app')
    for (const name of ['invoke_agent a', 'GET /']) {
      const span = tracer.startSpan(name, { attributes: agentAttributes('a', 'CANARY') }, ROOT_CONTEXT)
      span.addEvent('gen_ai.user.message', { content: 'CANARY' })
      span.setStatus({ code: 2, message: 'CANARY' })
      spoil(span)
      expect(() => span.end()).not.toThrow()
    }
    await scoring.forceFlush()
    await scoring.shutdown()
    expect(ended).toBe(2)
    expect(exported.join()).not.toContain('CANARY')
    expect(unhandled).toEqual([])
    expectBalanced(scoring.ledger())
  })
})

const rejects = (): Promise<never> => Promise.reject(new Error('logger'))

test('a logger whose methods are async and reject ends no process', async () => {
  diag.setLogger({ error: rejects, warn: rejects, info: rejects, debug() {}, verbose() {} }, DiagLogLevel.INFO)
  const scoring = new ScoringSpanProcessor({ scorers: [codeScorer('c')], next: new Ended(), onScore: throws })
  runAgent(new BasicTracerProvider({ spanProcessors: [scoring] }).getTracer('app'))
  await scoring.forceFlush()
  await scoring.shutdown()
  diag.disable()
  await new Promise((resolve) => setImmediate(resolve))
  expect(unhandled).toEqual([])
})
