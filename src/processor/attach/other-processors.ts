import type { TracerProvider } from '@opentelemetry/api'

import { processorsOf } from './provider-processors.ts'
import { globalTracerProvider, unwrapped } from './tracer-providers.ts'
import type { Flushable, SpanProcessorLike } from '../sdk-types.ts'

/** On every scoring processor, of any copy of the package. */
const SCORING = Symbol.for('spanscore.processor')

/** Makes a scoring processor known as one. */
export function markAsScoring(processor: object): void {
  Object.defineProperty(processor, SCORING, { value: true })
}

/**
 * The other processors of the provider that `self` is on; none where the provider does not show them. Scoring processors are
 * not among them: each flushes the others', and two would flush each other for ever.
 */
export function siblingsOf(given: TracerProvider | undefined, self: SpanProcessorLike): readonly Flushable[] {
  const provider = given === undefined ? globalTracerProvider() : unwrapped(given)
  const processors = provider === undefined ? undefined : processorsOf(provider)
  return processors?.includes(self) === true ? processors.filter((processor) => !(SCORING in processor)) : []
}
