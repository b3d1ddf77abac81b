import type { Dialect, SpanRole } from './dialect.ts'
import { allDialects } from './dialects/all.ts'
import type { SourceSpan } from './source-span.ts'

/**
 * Says which instrumentation wrote a span, by scope and attributes; `undefined` if none that is known did. Compares
 * strings and looks up keys, nothing more: it runs on every span of the process, at its start with the attributes that
 * are there by then, and again at its end.
 */
export function recognise(
  scopeName: string,
  attributes: Readonly<Record<string, unknown>>,
  spanName: string,
): Dialect | undefined {
  for (const dialect of allDialects) {
    if (dialect.recognises(scopeName, attributes, spanName)) return dialect
  }
  return undefined
}

/** What the span is to a run; `none` where the dialect does not know. Never throws. */
export function roleOf(dialect: Dialect, span: SourceSpan): SpanRole {
  try {
    return dialect.roleOf(span)
  } catch {
    return 'none'
  }
}
