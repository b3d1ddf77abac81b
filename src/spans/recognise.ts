import type { Dialect, SpanRole } from './dialect.ts'
import { allDialects } from './dialects/all.ts'
import type { SourceSpan } from './source-span.ts'

/**
 * Returns the dialect that wrote a span, by scope and attributes; `undefined` if none recognises it. It runs for every span of the process,
 * at its start with the attributes so far and again at its end, so it only compares strings and looks up keys.
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

/** The role of a span; `none` if the dialect does not know. Never throws. */
export function roleOf(dialect: Dialect, span: SourceSpan): SpanRole {
  try {
    return dialect.roleOf(span)
  } catch {
    return 'none'
  }
}
