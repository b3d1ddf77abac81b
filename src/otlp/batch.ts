import type { SourceLog, SourceSpan } from '../spans/source-span.ts'

/** The spans and log records of one OTLP export request, or of one entry of it; metrics are ignored. */
export interface OtlpBatch {
  /** The spans, in the order of the request. */
  readonly spans: SourceSpan[]
  /** The log records, in the order of the request. */
  readonly logs: SourceLog[]
  /** How many spans and log records were dropped for lack of a valid trace and span id. */
  invalid: number
}

/** Creates an empty batch. */
export function createBatch(): OtlpBatch {
  return { spans: [], logs: [], invalid: 0 }
}

/**
 * Sets one attribute of a record. `__proto__` becomes an own property, so that no key in a file can change a prototype.
 */
export function setAttribute(record: Record<string, unknown>, key: string, value: unknown): void {
  if (key === '__proto__') {
    Object.defineProperty(record, key, { value, enumerable: true, configurable: true, writable: true })
  } else {
    record[key] = value
  }
}

/**
 * The scope of a span. Backends that do not keep scopes write the name into an attribute, from where it comes back here if the scope itself
 * has none.
 */
export function scopeFrom(
  scope: SourceSpan['scope'],
  attributes: Readonly<Record<string, unknown>>,
): SourceSpan['scope'] {
  if (scope.name !== '') return scope
  const name = attributes['otel.scope.name'] ?? attributes['otel.library.name']
  if (typeof name !== 'string' || name === '') return scope
  const version = attributes['otel.scope.version'] ?? attributes['otel.library.version']
  return typeof version === 'string' && version !== '' ? { name, version } : { name }
}

/** Converts an OTLP status code, by number or name. */
export function toStatusCode(code: unknown): 'unset' | 'ok' | 'error' {
  if (code === 2 || code === 'STATUS_CODE_ERROR' || code === 'ERROR') return 'error'
  if (code === 1 || code === 'STATUS_CODE_OK' || code === 'OK') return 'ok'
  return 'unset'
}

/** Bits 8 and 9 of OTLP span flags: whether it is known if the parent is remote, and whether it is. */
export function isParentRemote(flags: number): boolean {
  return (flags & 0x300) === 0x300
}

/** Reads an id as hex digits (OTLP/JSON) or base64 (plain protobuf JSON). All zeros means no id. */
export function toId(value: unknown, digits: 16 | 32): string | undefined {
  if (typeof value !== 'string') return undefined
  if (value.length === digits && /^[0-9a-fA-F]+$/.test(value))
    return /[^0]/.test(value) ? value.toLowerCase() : undefined
  if (value.length !== Math.ceil(digits / 6) * 4) return undefined
  const bytes = Buffer.from(value, 'base64')
  return bytes.length === digits / 2 ? toId(bytes.toString('hex'), digits) : undefined
}

/** The value if it is an array, otherwise an empty array. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}
