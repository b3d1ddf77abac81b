/** Reads headers as `OTEL_EXPORTER_OTLP_HEADERS` holds them: `name=value,…`, with values percent-encoded. */
export function readHeaders(listed: string | undefined): Readonly<Record<string, string>> {
  const headers = (listed ?? '').split(',').flatMap((pair) => {
    const [, name = '', value = ''] = /^\s*([^=\s]+)\s*=(.*)$/.exec(pair) ?? []
    return name === '' ? [] : [[name, decoded(value.trim())] as const]
  })
  return Object.fromEntries(headers)
}

function decoded(value: string): string {
  try {
    return decodeURIComponent(value)
  } catch {
    return value
  }
}
