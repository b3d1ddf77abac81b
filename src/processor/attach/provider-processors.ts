import { isRecord } from '../../spans/json.ts'
import type { SpanProcessorLike } from '../sdk-types.ts'
import { lookAt } from './look-at.ts'

/**
 * The list of processors that a tracer provider of SDK 1.30, 2.x or 3.x hands its spans to: the list itself, which the
 * provider reads at each span. `undefined` if the provider is of another make.
 *
 * The property is private: there is no public way to reach a provider's processors, and none to add one from SDK 2.0 on.
 */
export function processorsOf(provider: object): SpanProcessorLike[] | undefined {
  return lookAt(() => {
    // 2.x and 3.x, and 1.30, which is without a list until the first processor is added.
    const active: unknown =
      Reflect.get(provider, '_activeSpanProcessor') ?? Reflect.get(provider, 'activeSpanProcessor')
    if (!isRecord(active)) return undefined
    const processors = active['_spanProcessors']
    return isProcessorList(processors) ? processors : undefined
  })
}

/**
 * Puts one processor in the place of those in a provider's list, in one step, so that no span is handed out between; false where the list
 * does not take it, and is left as it was.
 */
export function replaceProcessors(processors: SpanProcessorLike[], processor: SpanProcessorLike): boolean {
  const before = lookAt(() => [...processors])
  if (before === undefined) return false
  const isReplaced = lookAt(() => {
    if (Object.isFrozen(processors)) return false
    // The first is written before another is removed: of a list that cannot be written, nothing is lost.
    processors[0] = processor
    processors.length = 1
    return processors.length === 1 && processors[0] === processor
  })
  if (isReplaced === true) return true
  lookAt(() => Object.assign(processors, before))
  lookAt(() => (processors.length = before.length))
  return false
}

/** Adds a processor to a provider of SDK 1.30 that has none yet; false where it cannot be done. */
export function addProcessor(provider: object, processor: SpanProcessorLike): boolean {
  const isAdded = lookAt(() => {
    const add: unknown = Reflect.get(provider, 'addSpanProcessor')
    if (typeof add !== 'function') return false
    Reflect.apply(add, provider, [processor])
    return true
  })
  return isAdded === true
}

function isProcessorList(value: unknown): value is SpanProcessorLike[] {
  return Array.isArray(value) && Array.from<unknown>(value).every(isProcessor)
}

function isProcessor(value: unknown): value is SpanProcessorLike {
  return isRecord(value) && typeof value['onStart'] === 'function' && typeof value['onEnd'] === 'function'
}
