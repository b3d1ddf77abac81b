import type { TracerProvider } from '@opentelemetry/api'

import type { LedgerSnapshot } from '../../scoring/ledger.ts'
import type { ResolvedOptions } from '../config/options.ts'
import { lookAt } from './look-at.ts'
import { processorsOf } from './provider-processors.ts'
import { globalTracerProvider, unwrapped } from './tracer-providers.ts'
import type { Flushable, SpanProcessorLike } from '../sdk-types.ts'

/** On every scoring processor, of any copy of the package. */
const SCORING = Symbol.for('spanscore.processor')

/** Where `spanscore doctor` waits for scoring processors to be made, in the processes that it looks at. */
const DOCTOR = Symbol.for('spanscore.doctor')

/** A scoring processor, as the doctor looks at it. */
export interface ScoringDescription {
  readonly processor: object
  readonly options: ResolvedOptions
  readonly ledger: () => LedgerSnapshot
}

/** Makes a scoring processor known as one. */
export function markAsScoring(description: ScoringDescription): void {
  Object.defineProperty(description.processor, SCORING, { value: true })
  const doctor: unknown = Reflect.get(globalThis, DOCTOR)
  if (Array.isArray(doctor)) doctor.push(description)
}

/** Whether `self` is the only processor of its provider, so that no span is exported; false where the provider does not show them. */
export function isOnlyProcessor(given: TracerProvider | undefined, self: SpanProcessorLike): boolean {
  const provider = given === undefined ? globalTracerProvider() : unwrapped(given)
  const processors = provider === undefined ? undefined : processorsOf(provider)
  return lookAt(() => processors?.length === 1 && processors[0] === self) === true
}

/**
 * The other processors of the provider that `self` is on; none where the provider does not show them. Scoring processors are
 * not among them: each flushes the others', and two would flush each other for ever.
 */
export function otherProcessorsOf(given: TracerProvider | undefined, self: SpanProcessorLike): readonly Flushable[] {
  const provider = given === undefined ? globalTracerProvider() : unwrapped(given)
  const processors = provider === undefined ? undefined : processorsOf(provider)
  const all = lookAt(() => Array.from(processors ?? [])) ?? []
  return all.includes(self) ? all.filter((processor) => lookAt(() => SCORING in processor) !== true) : []
}
