import type { TracerProvider } from '@opentelemetry/api'

import { SCOPE_NAME } from '../../emit/signal-providers.ts'
import { samplerProbability } from '../../sampling/sampler.ts'
import { upstreamProbability } from '../../sampling/upstream.ts'
import { processorsOf } from '../attach/provider-processors.ts'
import { globalTracerProvider, unwrapped } from '../attach/tracer-providers.ts'
import type { ScoredRun } from './scored-run.ts'
import type { SpanProcessorLike } from '../sdk-types.ts'

/** What is known of the tracer's own sampling. */
export interface UpstreamOptions {
  readonly upstreamProbability?: number
  readonly tracerProvider?: TracerProvider
}

/** With what probability the tracer kept a run: by tracestate, else as configured, else as its sampler describes itself. */
export class Upstream {
  readonly #options: UpstreamOptions
  readonly #self: SpanProcessorLike
  #known: { readonly provider: object; readonly sampler: string | undefined } | undefined

  /** @param self The processor whose provider's sampler it is. */
  constructor(options: UpstreamOptions, self: SpanProcessorLike) {
    this.#options = options
    this.#self = self
  }

  /** Above 0, at most 1; `undefined` where nobody says it. */
  probabilityOf({ live, target }: ScoredRun): number | undefined {
    const told = upstreamProbability(target.traceState, this.#options.upstreamProbability)
    if (told !== undefined) return told
    const sampler = this.#sampler()
    return sampler === undefined ? undefined : samplerProbability(sampler, live.beganHere)
  }

  #sampler(): string | undefined {
    const { tracerProvider } = this.#options
    const provider = tracerProvider === undefined ? globalTracerProvider() : unwrapped(tracerProvider)
    if (provider === undefined) return undefined
    if (this.#known?.provider !== provider) {
      const isOurs = processorsOf(provider)?.includes(this.#self) === true
      this.#known = { provider, sampler: isOurs ? samplerOf(provider) : undefined }
    }
    return this.#known.sampler
  }
}

/**
 * How the sampler of a provider describes itself. The property is private in all SDK lines: there is no public way to ask a
 * provider for its sampler. `undefined` where it is not there, or throws: a sampler may be anybody's.
 */
function samplerOf(provider: object): string | undefined {
  try {
    return descriptionOf(provider)
  } catch {
    return undefined
  }
}

function descriptionOf(provider: object): string | undefined {
  const getTracer: unknown = Reflect.get(provider, 'getTracer')
  if (typeof getTracer !== 'function') return undefined
  const tracer: unknown = Reflect.apply(getTracer, provider, [SCOPE_NAME])
  const sampler: unknown = typeof tracer === 'object' && tracer !== null ? Reflect.get(tracer, '_sampler') : undefined
  const describe: unknown =
    typeof sampler === 'object' && sampler !== null ? Reflect.get(sampler, 'toString') : undefined
  const description: unknown = typeof describe === 'function' ? Reflect.apply(describe, sampler, []) : undefined
  return typeof description === 'string' ? description : undefined
}
