import type { Dialect } from './dialect.ts'
import { allDialects } from './dialects/all.ts'
import { dialectSpanNames } from './recognise.ts'
import type { SourceSpan } from './source-span.ts'

/** The attributes that determine a span's role in any dialect. */
const kindKeys: readonly string[] = [...new Set(allDialects.flatMap((dialect) => dialect.kindKeys ?? []))]

/** Whether the role of a recognised span is already final. Many spans only reveal it when they end. */
export function saysItsKind(dialect: Dialect, span: SourceSpan): boolean {
  const { attributes } = span
  // Its own dialect's keys are looked at first, because one of them nearly always decides.
  const isSaid =
    (dialect.kindKeys !== undefined && hasOneOf(attributes, dialect.kindKeys)) || hasOneOf(attributes, kindKeys)
  return isSaid && dialect.mayBecomeAgent?.(span) !== true
}

function hasOneOf(attributes: SourceSpan['attributes'], keys: readonly string[]): boolean {
  for (const key of keys) if (attributes[key] !== undefined) return true
  return false
}

/** Whether an undecoded name, from `start` to before `end`, is one that a dialect gives its spans. */
export function isNameOfDialect(bytes: Uint8Array, start: number, end: number): boolean {
  return dialectSpanNames.begin(bytes, start, end)
}
