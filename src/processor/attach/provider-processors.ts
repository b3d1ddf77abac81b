import { isRecord } from '../../spans/json.ts'
import type { SpanProcessorLike } from '../../spans/sdk-types.ts'
import { lookAt } from './look-at.ts'

/**
 * The list of processors of a tracer provider of SDK 1.30, 2.x or 3.x: the list itself, which the provider reads for each span. `undefined`
 * for any other provider.
 *
 * The property is private. There is no public way to read a provider's processors, and none to add one since SDK 2.0.
 */
export function processorsOf(provider: object): SpanProcessorLike[] | undefined {
  return lookAt(() => {
    // For 2.x and 3.x, and for 1.30, which has no list until the first processor is added.
    const active: unknown =
      Reflect.get(provider, '_activeSpanProcessor') ?? Reflect.get(provider, 'activeSpanProcessor')
    if (!isRecord(active)) return undefined
    const processors = active['_spanProcessors']
    return isProcessorList(processors) ? processors : undefined
  })
}

/**
 * Replaces all processors in a provider's list by others, synchronously, so that no span is missed. Returns false, and leaves the list as it
 * was, if the list cannot be written.
 */
export function replaceProcessors(processors: SpanProcessorLike[], others: readonly SpanProcessorLike[]): boolean {
  const before = lookAt(() => [...processors])
  if (before === undefined) return false
  const isReplaced = lookAt(() => {
    if (Object.isFrozen(processors)) return false
    // Writing the entries before removing any loses nothing if the list is read-only.
    for (const [index, other] of others.entries()) processors[index] = other
    processors.length = others.length
    return processors.length === others.length && others.every((other, index) => processors[index] === other)
  })
  if (isReplaced === true) return true
  lookAt(() => Object.assign(processors, before))
  lookAt(() => (processors.length = before.length))
  return false
}

/**
 * Adds a processor to a provider of SDK 1.30 that has none yet; false if that is impossible. Other providers have a method of this name,
 * too, such as Datadog's, and pass spans of their own kind.
 */
export function addProcessor(provider: object, processor: SpanProcessorLike): boolean {
  const isAdded = lookAt(() => {
    const add: unknown = Reflect.get(provider, 'addSpanProcessor')
    if (typeof add !== 'function' || !Array.isArray(Reflect.get(provider, '_registeredSpanProcessors'))) return false
    Reflect.apply(add, provider, [processor])
    return true
  })
  return isAdded === true
}

/** Whether a processor has all methods, so that it can be `next`. New Relic's can neither be flushed nor shut down. */
export function canBeNext(processor: SpanProcessorLike): boolean {
  const methods = ['forceFlush', 'shutdown'] as const
  return lookAt(() => methods.every((name) => typeof processor[name] === 'function')) === true
}

function isProcessorList(value: unknown): value is SpanProcessorLike[] {
  return Array.isArray(value) && Array.from<unknown>(value).every(isProcessor)
}

function isProcessor(value: unknown): value is SpanProcessorLike {
  return isRecord(value) && typeof value['onStart'] === 'function' && typeof value['onEnd'] === 'function'
}
