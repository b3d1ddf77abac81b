import type { HeldTracesOptions } from '../src/traces/held-traces-options.ts'

/** Typical waits, and limits that no test reaches by accident. */
export const BUFFER_OPTIONS: HeldTracesOptions = {
  settleMs: 10_000,
  orphanMs: 300_000,
  lingerMs: 300_000,
  maxAgeMs: 3_600_000,
  maxSpansPerTrace: 5000,
  maxBytesPerTrace: 1e9,
  maxSpans: 100_000,
  maxContentBytes: 1e9,
}
