import { trace } from '@opentelemetry/api'
import type { MeterProvider, TracerProvider } from '@opentelemetry/api'

import type { EmissionProviders, LoggerProviderLike } from '../../emit/signal-providers.ts'
import type { Flushable } from '../../spans/sdk-types.ts'
import { isRecord } from '../../spans/json.ts'
import { lookAt } from './look-at.ts'

/** Providers that the application passed, or that `attachScoring` found. */
export interface GivenProviders {
  readonly tracerProvider?: TracerProvider
  readonly meterProvider?: MeterProvider
  readonly loggerProvider?: LoggerProviderLike
}

/** Where every copy of `@opentelemetry/api` 1.x stores its globals; since 1.10 including the logger provider. */
const API: unique symbol = Symbol.for('opentelemetry.js.api.1')

/** Where every copy of `@opentelemetry/api-logs` stores its global, as a function of its compatibility version. */
const LOGS_API: unique symbol = Symbol.for('io.opentelemetry.js.api.logs')
const LOGS_API_COMPATIBILITY_VERSION = 1

interface Globals {
  readonly [API]?: Readonly<Record<string, unknown>>
  readonly [LOGS_API]?: unknown
}

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- any code may have changed the global object
const globals = globalThis as Globals

/**
 * The providers of tracers, meters and loggers. Each is looked up at every use: the given one, or else the global one.
 *
 * Globals are read from where the API stores them, not through our own copy of it: a copy that is newer than the registering one gets
 * no-ops, and the two Logs APIs (`api-logs` for SDK 2.x, `api` 1.10 for 3.x) do not share globals.
 */
export class Providers implements EmissionProviders {
  readonly #given: GivenProviders

  constructor(given: GivenProviders) {
    this.#given = given
  }

  tracerProvider(): TracerProvider | undefined {
    return lookAt(() => {
      const provider = this.#given.tracerProvider ?? registered('trace')
      return isTracerProvider(provider) && isTracerProvider(unwrapped(provider)) ? provider : undefined
    })
  }

  meterProvider(): MeterProvider | undefined {
    return lookAt(() => {
      const provider = this.#given.meterProvider ?? registered('metrics')
      return isMeterProvider(provider) ? provider : undefined
    })
  }

  loggerProvider(): LoggerProviderLike | undefined {
    return lookAt(() => {
      const provider = this.#given.loggerProvider ?? registered('logs') ?? registeredLogs()
      return isLoggerProvider(provider) ? provider : undefined
    })
  }

  /** The logger and meter providers that can be flushed. The tracer provider is left out, because it flushes us. */
  flushable(): readonly Flushable[] {
    return [this.loggerProvider(), this.meterProvider()].filter((provider) => isFlushable(provider))
  }
}

/** The global tracer provider itself, taken out of the API's proxy; `undefined` if none is registered. */
export function globalTracerProvider(): object | undefined {
  return unwrapped(lookAt(() => registered('trace')))
}

/**
 * The version of the copy of `@opentelemetry/api` that registered the tracer provider, if our own copy is newer. A newer copy ignores what
 * an older one registered, and most libraries use the same copy as we do.
 */
export function olderApi(): string | undefined {
  const provider = lookAt(() => registered('trace'))
  if (provider === undefined || trace.getTracerProvider() === provider) return undefined
  const version = lookAt(() => globals[API]?.['version'])
  return typeof version === 'string' ? version.slice(0, 50) : undefined
}

/** The description of a provider's sampler, such as `TraceIdRatioBased{0.1}`; `undefined` if it cannot be seen. */
export function samplerOf(provider: object | undefined): string | undefined {
  return lookAt(() => {
    // The properties are private: of SDK 2.12 and 3.x, then of 1.30 and earlier 2.x.
    const options: unknown = provider && (Reflect.get(provider, '_tracerOptions') ?? Reflect.get(provider, '_config'))
    const sampler = isRecord(options) ? options['sampler'] : undefined
    // oxlint-disable-next-line typescript/no-base-to-string -- samplers of the SDK describe themselves
    return isRecord(sampler) ? String(sampler).slice(0, 200) : undefined
  })
}

/** The provider behind the API's proxy tracer provider, or the given provider if it is not a proxy. */
export function unwrapped(provider: unknown): object | undefined {
  if (typeof provider !== 'object' || provider === null) return undefined
  return lookAt(() => {
    if (!('getDelegate' in provider) || typeof provider.getDelegate !== 'function') return provider
    const delegate: unknown = provider.getDelegate()
    return typeof delegate === 'object' && delegate !== null && delegate !== noopOf(provider) ? delegate : undefined
  })
}

/** What a proxy without a provider returns, which a new proxy of its class is. Bundlers change names of classes, so names do not show it. */
function noopOf(proxy: object): unknown {
  return lookAt(() => {
    const empty: unknown = Reflect.construct(proxy.constructor, [])
    const isProxy = typeof empty === 'object' && empty !== null && 'getDelegate' in empty
    return isProxy && typeof empty.getDelegate === 'function' ? empty.getDelegate() : undefined
  })
}

function registered(name: 'trace' | 'metrics' | 'logs'): unknown {
  return globals[API]?.[name]
}

function registeredLogs(): unknown {
  const get = globals[LOGS_API]
  return typeof get === 'function' ? get(LOGS_API_COMPATIBILITY_VERSION) : undefined
}

function isTracerProvider(provider: unknown): provider is TracerProvider {
  return hasMethod(provider, 'getTracer')
}

function isMeterProvider(provider: unknown): provider is MeterProvider {
  return hasMethod(provider, 'getMeter')
}

function isLoggerProvider(provider: unknown): provider is LoggerProviderLike {
  return hasMethod(provider, 'getLogger')
}

function isFlushable(provider: unknown): provider is Required<Flushable> {
  return lookAt(() => hasMethod(provider, 'forceFlush')) === true
}

function hasMethod(value: unknown, name: string): boolean {
  return typeof value === 'object' && value !== null && typeof Reflect.get(value, name) === 'function'
}
