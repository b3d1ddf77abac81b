import type { TracerProvider } from '@opentelemetry/api'

import type { LedgerSnapshot } from '../../scoring/ledger.ts'
import type { ResolvedOptions } from '../../engine/config/options.ts'
import { isRecord } from '../../spans/json.ts'
import { lookAt } from './look-at.ts'
import { processorsOf } from './provider-processors.ts'
import { globalTracerProvider, unwrapped } from './tracer-providers.ts'
import type { Flushable, SpanProcessorLike } from '../../spans/sdk-types.ts'

/** Marks scoring processors of any copy of the package. */
const SCORING = Symbol.for('spanscore.processor')

/** A hook of `spanscore doctor`, called for each scoring processor that is created. */
const DOCTOR = Symbol.for('spanscore.doctor')

/** A scoring processor, as described to the doctor. */
export interface ScoringDescription {
  readonly processor: object
  readonly options: ResolvedOptions
  readonly ledger: () => LedgerSnapshot
}

/** Marks a scoring processor, and reports it to the doctor. */
export function markAsScoring(description: ScoringDescription): void {
  Object.defineProperty(description.processor, SCORING, { value: true })
  const doctor: unknown = Reflect.get(globalThis, DOCTOR)
  if (Array.isArray(doctor)) doctor.push(description)
}

/** Milliseconds for which the SDK waits for the flush of a processor, unless a provider has another limit. */
const FLUSH_LIMIT_MS = 30_000

/** Milliseconds for which a provider waits for the flush of a processor. Then its own flush rejects. */
export function flushLimitOf(given: TracerProvider | undefined): number {
  const provider = providerOf(given)
  const limitMs = lookAt(() => {
    if (provider === undefined) return undefined
    // SDK 2.12 and 3.x, then 1.30 and earlier 2.x.
    const ownMs: unknown = Reflect.get(provider, '_forceFlushTimeoutMillis')
    const config: unknown = Reflect.get(provider, '_config')
    return ownMs ?? (isRecord(config) ? config['forceFlushTimeoutMillis'] : undefined)
  })
  return typeof limitMs === 'number' && limitMs > 0 ? limitMs : FLUSH_LIMIT_MS
}

/** Whether `self` is the provider's only processor, so that no span is exported; false if the provider does not expose its processors. */
export function isOnlyProcessor(given: TracerProvider | undefined, self: SpanProcessorLike): boolean {
  const provider = providerOf(given)
  const processors = provider === undefined ? undefined : processorsOf(provider)
  return lookAt(() => processors?.length === 1 && processors[0] === self) === true
}

/** The other processors of a provider, by whether it calls them before or after one of them. */
export interface OtherProcessors {
  /** They are shut down before `self` is. */
  readonly before: readonly Flushable[]
  /** They are shut down after it. */
  readonly after: readonly Flushable[]
}

/**
 * The other processors of `self`'s provider; none if the provider does not expose them. Scoring processors are left out: each flushes the
 * others, so two would flush each other forever.
 */
export function otherProcessorsOf(given: TracerProvider | undefined, self: SpanProcessorLike): OtherProcessors {
  const provider = providerOf(given)
  const processors = provider === undefined ? undefined : processorsOf(provider)
  const all = lookAt(() => Array.from(processors ?? [])) ?? []
  const place = all.indexOf(self)
  if (place === -1) return { before: [], after: [] }
  return { before: all.slice(0, place).filter(isOther), after: all.slice(place + 1).filter(isOther) }
}

function providerOf(given: TracerProvider | undefined): object | undefined {
  return given === undefined ? globalTracerProvider() : unwrapped(given)
}

function isOther(processor: SpanProcessorLike): boolean {
  return lookAt(() => SCORING in processor) !== true
}

/**
 * How many ended spans wait in batch processors. Their list is private in SDK 1.30, 2.x and 3.x; there is no public way to count them.
 * Other processors count as empty.
 */
export function countUnsentSpans(processors: readonly unknown[]): number {
  return processors.reduce<number>((sum, each) => sum + (lookAt(() => unsentIn(each)) ?? 0), 0)
}

function unsentIn(processor: unknown): number {
  if (!isRecord(processor)) return 0
  const behind = processor['processors']
  if (Array.isArray(behind)) return countUnsentSpans(behind)
  const waiting = processor['_finishedSpans']
  return Array.isArray(waiting) ? waiting.length : 0
}
