import { AsyncLocalStorage } from 'node:async_hooks'

import { context, createContextKey, ROOT_CONTEXT } from '@opentelemetry/api'
import type { Context } from '@opentelemetry/api'

import { globalSlot } from './global-slot.ts'

/**
 * spanscore's own work is isolated from the application: its spans are not recorded, it is never scored itself, and it keeps no
 * request's async context alive while it waits.
 *
 * There are three guards, because each alone has a gap. Suppressed tracing uses the key that every SDK line reads, but needs a
 * registered context manager. Our own AsyncLocalStorage needs none, and the span processor reads it at each span start. The work
 * also starts from the async context in which this module was loaded, so that the request that ended a run can be collected as
 * garbage while its judge is still working.
 */
const SUPPRESSED: Context = ROOT_CONTEXT.setValue(
  createContextKey('OpenTelemetry SDK Context Key SUPPRESS_TRACING'),
  true,
)

/** Shared by all copies of the package in one process, so that each recognises the judge calls of the others. */
const mark = globalSlot('isolation', () => new AsyncLocalStorage<true>(), isStorage)

const inCleanContext = AsyncLocalStorage.snapshot()

/** Runs a function in the async context of isolated work; cached. */
let inIsolation: typeof inCleanContext | undefined

/** Runs a scorer or a judge call apart from the application: untraced, marked, in a clean async context. Nested calls stay isolated. */
export function isolated<T>(run: () => T): T {
  if (isIsolated()) return run()
  inIsolation ??= isolatedContext()
  return inIsolation(() => {
    if (context.active() === SUPPRESSED) return run()
    return context.with(SUPPRESSED, () => {
      // The context manager was registered after the cached context was created. Without a context manager, no context is active here.
      if (context.active() === SUPPRESSED) inIsolation = undefined
      return run()
    })
  })
}

/** Entering an `AsyncLocalStorage` copies all of them, which costs more than a scorer, so the result is cached. */
function isolatedContext(): typeof inCleanContext {
  return inCleanContext(() => mark.run(true, () => context.with(SUPPRESSED, () => AsyncLocalStorage.snapshot())))
}

/** Whether the spans of isolated work are suppressed. Without a context manager, the span processor has to drop each. */
export function isSuppressed(): boolean {
  return context.with(SUPPRESSED, () => context.active() === SUPPRESSED)
}

/** Runs code in a clean async context, so that its timers and promises do not keep a request of the application alive. */
export function detached<T>(run: () => T): T {
  return inCleanContext(run)
}

/** Whether the calling code runs within `isolated`, of this copy of the package or of another one. */
export function isIsolated(): boolean {
  return mark.getStore() === true
}

function isStorage(value: unknown): value is AsyncLocalStorage<true> {
  return value instanceof AsyncLocalStorage
}
