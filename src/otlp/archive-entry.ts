import type { SourceLog, SourceSpan } from '../spans/source-span.ts'

/** A span or log record as stored in the archive. */
export interface ArchiveEntry {
  readonly span?: SourceSpan
  readonly log?: SourceLog
  /** Whether it makes its trace relevant. Traces without such an entry are not returned. */
  readonly isRecognised: boolean
}

/** The position of an entry in a file. */
export interface Position {
  readonly offset: number
  readonly length: number
}
