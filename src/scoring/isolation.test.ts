import { AsyncLocalStorage } from 'node:async_hooks'

import { context, createContextKey, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { TracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace'
import { afterEach, describe, expect, test } from 'vitest'

import { isIsolated, isolated } from './isolation.ts'

describe('isolated', () => {
  afterEach(() => {
    context.disable()
  })

  test('marks the work and what it awaits, and no other code', async () => {
    const seen: boolean[] = []
    await isolated(async () => {
      seen.push(isIsolated())
      await Promise.resolve()
      seen.push(isIsolated())
    })
    expect(seen).toEqual([true, true])
    expect(isIsolated()).toBe(false)
  })

  test('returns the result of the work, and throws its errors', () => {
    expect(isolated(() => 7)).toBe(7)
    expect(() =>
      isolated(() => {
        throw new Error('from inside')
      }),
    ).toThrow('from inside')
  })

  test('hides the stores of the request in which it is called', async () => {
    const request = new AsyncLocalStorage<string>()
    const seen = await request.run('request 1', () =>
      isolated(async () => {
        await Promise.resolve()
        return request.getStore()
      }),
    )
    expect(seen).toBeUndefined()
  })

  test('suppresses tracing and hides the active span if a context manager is registered', () => {
    context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
    const exporter = new InMemorySpanExporter()
    const tracer = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] }).getTracer('test')
    tracer.startActiveSpan('request', (span) => {
      isolated(() => {
        expect(trace.getActiveSpan()).toBeUndefined()
        tracer.startSpan('judge').end()
      })
      span.end()
    })
    expect(exporter.getFinishedSpans().map((span) => span.name)).toEqual(['request'])
  })

  test('does not carry values of the caller into the work', () => {
    context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
    const key = createContextKey('tenant')
    const seen = context.with(context.active().setValue(key, 'acme'), () =>
      isolated(() => context.active().getValue(key)),
    )
    expect(seen).toBeUndefined()
  })
})
