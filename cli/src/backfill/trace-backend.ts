import type { SourceSpan } from '../../../src/spans/source-span.ts'

/** A backend from which stored traces are read. */
export interface TraceBackend {
  /** The shortest time that a search can be limited to, in milliseconds. */
  readonly shortestMs: number
  /**
   * Reads the traces with a span that starts from `fromMs` on, and before or at `toMs`, in milliseconds since the epoch. They come whole.
   *
   * @returns `undefined` if there are more than are read at once
   */
  read(fromMs: number, toMs: number): Promise<readonly SourceSpan[] | undefined>
}

/** How many traces are read at once. It is below the limits of all backends, and bounds the memory. */
export const MAX_TRACES = 100
