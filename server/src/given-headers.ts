import { validateHeaderName, validateHeaderValue } from 'node:http'

/**
 * The headers for the backend: those of the standard variable (https://opentelemetry.io/docs/specs/otel/protocol/exporter), which is
 * `name=value,…` and percent-encoded, and those of `--header`, which others on the machine can see.
 *
 * @throws Error with what was expected and what came, without the value
 */
export function givenHeaders(
  options: readonly string[],
  { OTEL_EXPORTER_OTLP_HEADERS: list = '' }: { readonly OTEL_EXPORTER_OTLP_HEADERS?: string | undefined },
): Readonly<Record<string, string>> {
  const pairs = list.split(',').map((pair) => pair.trim())
  return Object.fromEntries([...pairs.filter((pair) => pair !== '').map(decoded), ...options].map(toHeader))
}

function decoded(pair: string): string {
  try {
    return decodeURIComponent(pair)
  } catch (error) {
    throw new Error('OTEL_EXPORTER_OTLP_HEADERS: expected name=value,… with percent-encoded values, got others.', {
      cause: error,
    })
  }
}

function toHeader(text: string): [string, string] {
  const at = text.indexOf('=')
  if (at <= 0)
    throw new Error('--header, OTEL_EXPORTER_OTLP_HEADERS: expected name=value, got text without a name and "=".')
  const [name, value] = [text.slice(0, at).trim(), text.slice(at + 1).trim()]
  try {
    validateHeaderName(name)
    validateHeaderValue(name, value)
  } catch (error) {
    // The value may be a secret.
    throw new Error(
      `--header ${name}: expected a name and a value that HTTP allows, got ${error instanceof Error ? error.message : 'others'}.`,
      { cause: error },
    )
  }
  return [name, value]
}
