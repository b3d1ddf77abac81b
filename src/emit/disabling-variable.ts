/** The variable with which the SDK registers no provider for a signal, such as `OTEL_TRACES_EXPORTER=none`; `undefined` if none is set. */
export function disablingVariable(
  signal: 'traces' | 'metrics' | 'logs',
  environment: Readonly<Record<string, string | undefined>>,
): string | undefined {
  const exporter = `OTEL_${signal.toUpperCase()}_EXPORTER`
  const isSet = (name: string, value: string) => environment[name]?.trim().toLowerCase() === value
  if (isSet('OTEL_SDK_DISABLED', 'true')) return 'OTEL_SDK_DISABLED=true'
  return isSet(exporter, 'none') ? `${exporter}=none` : undefined
}
