/** The SDK writes spans by itself; content is off unless it is asked for. */
export const clientOptions = { openTelemetry: { traces: { contentMode: 'content' } } }

/** Nothing but the model's calls is traced. */
export function traceAgent(_run, loop) {
  return loop()
}

export function traceTool(_call, execute) {
  return execute()
}
