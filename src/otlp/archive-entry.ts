import type { SourceLog, SourceSpan } from '../spans/source-span.ts'

/** How a span or log record goes into the archive. */
export interface ArchiveEntry {
  readonly span?: SourceSpan
  readonly log?: SourceLog
  /** True where a trace is of interest because of it. Traces without such an entry are not given back. */
  readonly isRecognised: boolean
}

/** The position of an entry in a file. */
export interface Position {
  readonly offset: number
  readonly length: number
}
