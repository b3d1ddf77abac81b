import type { SourceLog, SourceSpan } from '../spans/source-span.ts'

/** What one OTLP export request, or one entry of it, holds for spanscore: spans and log records, no metrics. */
export interface OtlpBatch {
  readonly spans: SourceSpan[]
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
