import type { SourceLog, SourceSpan } from '../spans/source-span.ts'

/** What one OTLP export request, or one entry of it, holds for spanscore: spans and log records, no metrics. */
export interface OtlpBatch {
  /** The spans, in the order in which they were written. */
  readonly spans: SourceSpan[]
  /** The log records, in the order in which they were written. */
  readonly logs: SourceLog[]
  /** Spans and log records that were left out because they carry no valid trace and span id. */
  invalid: number
}

/** An empty batch. */
export function createBatch(): OtlpBatch {
  return { spans: [], logs: [], invalid: 0 }
}

/**
 * Writes one attribute of a record. `__proto__` becomes an own key like any other, so that no key in a file changes what
 * the record inherits.
 */
export function setAttribute(record: Record<string, unknown>, key: string, value: unknown): void {
  if (key === '__proto__') {
    Object.defineProperty(record, key, { value, enumerable: true, configurable: true, writable: true })
  } else {
    record[key] = value
  }
}

/** OTLP status code, by number or by name, as this project names it. */
export function toStatusCode(code: unknown): 'unset' | 'ok' | 'error' {
  if (code === 2 || code === 'STATUS_CODE_ERROR') return 'error'
  if (code === 1 || code === 'STATUS_CODE_OK') return 'ok'
  return 'unset'
}

/** Bits 8 and 9 of OTLP span flags: whether it is known that the parent is remote, and whether it is. */
export function isParentRemote(flags: number): boolean {
  return (flags & 0x300) === 0x300
}

/** Hex digits, as OTLP/JSON says, or base64, as plain protobuf JSON printers write bytes; all zeros is none. */
export function toId(value: unknown, digits: 16 | 32): string | undefined {
  if (typeof value !== 'string') return undefined
  if (value.length === digits && /^[0-9a-fA-F]+$/.test(value))
    return /[^0]/.test(value) ? value.toLowerCase() : undefined
  if (value.length !== Math.ceil(digits / 6) * 4) return undefined
  const bytes = Buffer.from(value, 'base64')
  return bytes.length === digits / 2 ? toId(bytes.toString('hex'), digits) : undefined
}

/** The value where it is a list, else an empty one. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}
