import type { Context, MeterProvider, TracerProvider } from '@opentelemetry/api'

/** A log record in the form that the Logs API of all SDK lines accepts. */
export interface LogRecordLike {
  /** `gen_ai.evaluation.result`. */
  readonly eventName: string
  /** 9 (INFO) with a score, 13 (WARN) if scoring failed. */
  readonly severityNumber: number
  /** `INFO` or `WARN`. */
  readonly severityText: string
  /** Seconds and nanoseconds since the epoch. */
  readonly timestamp: [number, number]
  /** Milliseconds since the epoch. */
  readonly observedTimestamp: number
  /** The context of the span to which the score belongs. */
  readonly context: Context
  /** The attributes of the event. */
  readonly attributes: Record<string, string | number | boolean>
}

/** The part of a logger that is used. */
export interface LoggerLike {
  /** Emits a log record. */
  emit(record: LogRecordLike): void
}

/** The part of a logger provider that is used: of `@opentelemetry/api-logs` (SDK 1.x and 2.x) or `@opentelemetry/api` 1.10 (3.x). */
export interface LoggerProviderLike {
  /** Returns the logger of an instrumentation scope. */
  getLogger(name: string, version?: string): LoggerLike
}

/** Finds the providers at each emission, because they are often registered after the processor was created. */
export interface EmissionProviders {
  /** `undefined` if none is registered. */
  tracerProvider(): TracerProvider | undefined
  meterProvider(): MeterProvider | undefined
  loggerProvider(): LoggerProviderLike | undefined
}

/** The name of the instrumentation scope of everything that spanscore emits. */
export const SCOPE_NAME = 'spanscore'

/** The version of that scope, which is the version of the package. */
export const SCOPE_VERSION = '0.1.0'
