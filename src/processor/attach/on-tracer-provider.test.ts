import { trace } from '@opentelemetry/api'
import { TracerProvider } from '@opentelemetry/sdk-trace'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'

import { onTracerProvider } from './on-tracer-provider.ts'

const API = Symbol.for('opentelemetry.js.api.1')

function forgetGlobals(): void {
  trace.disable()
  Reflect.deleteProperty(globalThis, API)
}

beforeEach(forgetGlobals)
afterEach(forgetGlobals)

describe('The global tracer provider', () => {
  test('is found immediately if it is registered', () => {
    const provider = new TracerProvider()
    trace.setGlobalTracerProvider(provider)
    const found: object[] = []
    onTracerProvider((each) => found.push(each))
    expect(found).toEqual([provider])
  })

  test('is found when its registration is the first use of the API', () => {
    const found: object[] = []
    onTracerProvider((each) => found.push(each))
    expect(found).toEqual([])
    const provider = new TracerProvider()
    expect(trace.setGlobalTracerProvider(provider)).toBe(true)
    expect(found).toEqual([provider])
    expect(trace.setGlobalTracerProvider(new TracerProvider())).toBe(false)
    expect(found).toEqual([provider])
  })

  test('is found when it is registered after something else', () => {
    trace.setGlobalTracerProvider(new TracerProvider())
    trace.disable()
    const found: object[] = []
    onTracerProvider((each) => found.push(each))
    const provider = new TracerProvider()
    expect(trace.setGlobalTracerProvider(provider)).toBe(true)
    expect(found).toEqual([provider])
  })

  test('is found by all callers that wait for it', () => {
    const found: string[] = []
    onTracerProvider(() => found.push('first'))
    onTracerProvider(() => found.push('second'))
    trace.setGlobalTracerProvider(new TracerProvider())
    expect(found).toEqual(['first', 'second'])
  })

  test('is found behind a copy of the API that a bundler has minified', () => {
    const noop = {}
    class b {
      #delegate: object | undefined
      getDelegate(): object {
        return this.#delegate ?? noop
      }
      setDelegate(delegate: object): void {
        this.#delegate = delegate
      }
    }
    trace.setGlobalTracerProvider(new TracerProvider())
    trace.disable()
    const found: object[] = []
    onTracerProvider((each) => found.push(each))
    const proxy = new b()
    const api: object = Reflect.get(globalThis, API)
    Reflect.set(api, 'trace', proxy)
    expect(found).toEqual([])
    const provider = new TracerProvider()
    proxy.setDelegate(provider)
    expect(found).toEqual([provider])
  })

  test('is found after everything was disabled and deleted, as the distributions of Azure do before they start', () => {
    const found: object[] = []
    onTracerProvider((each) => found.push(each))
    trace.disable()
    Reflect.deleteProperty(globalThis, API)
    const provider = new TracerProvider()
    trace.setGlobalTracerProvider(provider)
    expect(found).toEqual([provider])
  })

  test('is found each time that another one replaces it', () => {
    const providers = [1, 2, 3].map(() => new TracerProvider())
    const found: object[] = []
    onTracerProvider((each) => found.push(each))
    for (const provider of providers) {
      trace.setGlobalTracerProvider(provider)
      trace.disable()
    }
    expect(found).toEqual(providers)
  })

  test('leaves the API unchanged', () => {
    onTracerProvider(() => undefined)
    trace.setGlobalTracerProvider(new TracerProvider())
    const api: object = Reflect.get(globalThis, API)
    expect(Object.getOwnPropertyDescriptor(globalThis, API)).toMatchObject({ value: api, writable: true })
    expect(Object.getOwnPropertyDescriptor(api, 'trace')).toMatchObject({
      value: trace.getTracerProvider(),
      writable: true,
    })
    expect(Object.hasOwn(trace.getTracerProvider(), 'setDelegate')).toBe(false)
    trace.disable()
    expect(Reflect.get(api, 'trace')).toBeUndefined()
  })
})
