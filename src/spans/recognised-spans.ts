import type { RunError } from '../model/message.ts'
import { SpanFacts } from './facts.ts'
import { recognise, roleOf } from './recognise.ts'
import type { SourceSpan } from './source-span.ts'

/** What explains that spans hold no run. */
export interface RecognisedSpans {
  /** Spans of known instrumentations. */
  readonly recognisedSpans: number
  /** The names of these instrumentations, as in `run.dialect`. */
  readonly dialects: readonly string[]
  /** The first of these spans that failed. */
  readonly firstFailed?: { readonly name: string; readonly error: RunError } | undefined
}

/** Counts the spans of known instrumentations. */
export class RecognisedSpanCounter {
  #count = 0
  readonly #dialects = new Set<string>()
  #firstFailed: RecognisedSpans['firstFailed']

  get counted(): RecognisedSpans {
    return { recognisedSpans: this.#count, dialects: [...this.#dialects], firstFailed: this.#firstFailed }
  }

  /** Returns whether an instrumentation that we know wrote the span. */
  add(span: SourceSpan): boolean {
    const dialect = recognise(span.scope.name, span.attributes, span.name)
    if (dialect === undefined) return false
    this.#count++
    this.#dialects.add(dialect.name)
    if (this.#firstFailed === undefined && span.status.code === 'error') {
      const { status, error } = new SpanFacts(span, dialect, roleOf(dialect, span)).outcome
      if (status === 'error' && error !== undefined) this.#firstFailed = { name: span.name, error }
    }
    return true
  }
}
