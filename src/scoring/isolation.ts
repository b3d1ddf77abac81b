import { AsyncLocalStorage } from 'node:async_hooks'

import { context, createContextKey, ROOT_CONTEXT } from '@opentelemetry/api'
import type { Context } from '@opentelemetry/api'

import { globalSlot } from './global-slot.ts'

/**
 * spanscore's own work is isolated from the application: its spans are not recorded, it is never scored itself, and it keeps no
 * request's async context alive while it waits.
 *
 * Three guards, because each alone has a hole. Suppressed tracing, by the key that every SDK line reads, needs a registered
 * context manager. An AsyncLocalStorage of our own needs none, and the span processor reads it at each span start. And the
 * work starts from the async context of this module's loading, so that the request that happened to end a run is collectable
 * while its judge is still thinking.
 */
const SUPPRESSED: Context = ROOT_CONTEXT.setValue(
  createContextKey('OpenTelemetry SDK Context Key SUPPRESS_TRACING'),
  true,
)

/** Shared by all copies of the package in one process, so that each recognises the judge calls of the others. */
const mark = globalSlot('isolation', () => new AsyncLocalStorage<true>(), isStorage)

const inCleanContext = AsyncLocalStorage.snapshot()

/** Runs a scorer, or a judge call, apart from the application: untraced, marked, in a clean async context. What is isolated stays so. */
export function isolated<T>(run: () => T): T {
  if (isIsolated()) return run()
  return inCleanContext(() => mark.run(true, () => context.with(SUPPRESSED, run)))
}

/** Runs code in a clean async context: what it starts (timers, promises) keeps no request of the application alive. */
export function detached<T>(run: () => T): T {
  return inCleanContext(run)
}

/** Whether the code that asks was started by `isolated`, in this copy of the package or another one. */
export function isIsolated(): boolean {
  return mark.getStore() === true
}

function isStorage(value: unknown): value is AsyncLocalStorage<true> {
  return value instanceof AsyncLocalStorage
}
