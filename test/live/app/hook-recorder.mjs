/** Starts and ends since the last look, in the order of the SDK's hooks. */
export const hooks = []

const hookRecorder = {
  onStart(span) {
    hooks.push({ ev: 'start', span: span.spanContext().spanId, attrs: Object.keys(span.attributes) })
  },
  onEnd(span) {
    hooks.push({ ev: 'end', span: span.spanContext().spanId })
  },
  forceFlush: () => Promise.resolve(),
  shutdown: () => Promise.resolve(),
}

/** Notes the order of the hooks from now on. The provider, which the library may have made itself, calls this before all others. */
export function recordHooks(provider) {
  // There is no public way to a provider's processors.
  const active = Reflect.get(provider, '_activeSpanProcessor') ?? Reflect.get(provider, 'activeSpanProcessor')
  Reflect.get(active, '_spanProcessors').unshift(hookRecorder)
}
